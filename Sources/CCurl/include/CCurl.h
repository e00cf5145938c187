// libcurl, with functions of fixed arguments for its variadic ones, which Swift cannot call.
#pragma once
#include <curl/curl.h>
