// zlib, for gzip (RFC 1952).
#pragma once
#include <zlib.h>
