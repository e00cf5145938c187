// Brotli (RFC 7932).
#pragma once
#include <brotli/decode.h>
#include <brotli/encode.h>
