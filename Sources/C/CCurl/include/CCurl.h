// libcurl, with functions of fixed arguments that replace its variadic ones, which Swift cannot call.
#pragma once
#include <curl/curl.h>

// curl_easy_setopt, one function for each type of argument.
CURLcode ccurl_set_long(CURL *_Nonnull easy, CURLoption option, long value);
CURLcode ccurl_set_string(CURL *_Nonnull easy, CURLoption option, const char *_Nullable value);
CURLcode ccurl_set_pointer(CURL *_Nonnull easy, CURLoption option, void *_Nullable value);

// curl_easy_getinfo.
CURLcode ccurl_get_long(CURL *_Nonnull easy, CURLINFO info, long *_Nonnull value);
CURLcode ccurl_get_off_t(CURL *_Nonnull easy, CURLINFO info, curl_off_t *_Nonnull value);
CURLcode ccurl_get_socket(CURL *_Nonnull easy, CURLINFO info, curl_socket_t *_Nonnull value);
CURLcode ccurl_get_pointer(CURL *_Nonnull easy, CURLINFO info, void *_Nullable *_Nonnull value);

// curl_multi_setopt.
CURLMcode ccurl_multi_set_long(CURLM *_Nonnull multi, CURLMoption option, long value);
/// Sets both callbacks, and the context that is passed to them.
CURLMcode ccurl_multi_set_callbacks(
    CURLM *_Nonnull multi, curl_socket_callback _Nonnull socket, curl_multi_timer_callback _Nonnull timer,
    void *_Nullable context);

// curl_share_setopt.
CURLSHcode ccurl_share_set_long(CURLSH *_Nonnull share, CURLSHoption option, long value);
