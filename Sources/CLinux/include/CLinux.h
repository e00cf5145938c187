// Linux interfaces that Swift's Glibc module does not import: epoll, eventfd, accept4.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
