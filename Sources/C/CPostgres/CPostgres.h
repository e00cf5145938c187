// libpq, the client library of PostgreSQL. Debian keeps its headers in a folder of their own, which pkg-config names where
// it is installed.
#pragma once
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
