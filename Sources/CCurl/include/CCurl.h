// libcurl, with functions of fixed arguments for its variadic ones, which Swift cannot call.
#pragma once
#include <curl/curl.h>

// curl_easy_setopt, one function for each type of argument.
CURLcode ccurl_set_long(CURL *_Nonnull easy, CURLoption option, long value);
CURLcode ccurl_set_off_t(CURL *_Nonnull easy, CURLoption option, curl_off_t value);
CURLcode ccurl_set_string(CURL *_Nonnull easy, CURLoption option, const char *_Nullable value);
CURLcode ccurl_set_pointer(CURL *_Nonnull easy, CURLoption option, void *_Nullable value);
CURLcode ccurl_set_headers(CURL *_Nonnull easy, struct curl_slist *_Nullable headers);
/// CURLOPT_WRITEFUNCTION or CURLOPT_HEADERFUNCTION.
CURLcode ccurl_set_write_callback(CURL *_Nonnull easy, CURLoption option, curl_write_callback _Nonnull callback);

// curl_easy_getinfo.
CURLcode ccurl_get_long(CURL *_Nonnull easy, CURLINFO info, long *_Nonnull value);
CURLcode ccurl_get_off_t(CURL *_Nonnull easy, CURLINFO info, curl_off_t *_Nonnull value);
CURLcode ccurl_get_socket(CURL *_Nonnull easy, CURLINFO info, curl_socket_t *_Nonnull value);
CURLcode ccurl_get_pointer(CURL *_Nonnull easy, CURLINFO info, void *_Nullable *_Nonnull value);

// curl_multi_setopt.
CURLMcode ccurl_multi_set_long(CURLM *_Nonnull multi, CURLMoption option, long value);
/// Both callbacks, and the context that they get.
CURLMcode ccurl_multi_set_callbacks(
    CURLM *_Nonnull multi, curl_socket_callback _Nonnull socket, curl_multi_timer_callback _Nonnull timer,
    void *_Nullable context);
