// Linux interfaces that Swift's Glibc module does not import: epoll, eventfd, timerfd, accept4, and the memory that a
// program has mapped.
#pragma once
// _GNU_SOURCE is not defined here: it changes types that Swift's Glibc module has imported without it.
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

/// accept4(2) with SOCK_NONBLOCK and SOCK_CLOEXEC. Returns the new descriptor, or the negated errno. `peer` may be
/// null.
int clinux_accept(int listener, struct sockaddr_storage *_Nullable peer);

/// Returns the event loop worker whose turn runs on the calling thread, or null. Swift has no thread-local storage.
void *_Nullable clinux_current_worker(void);

/// Sets the value that `clinux_current_worker` returns on the calling thread.
void clinux_set_current_worker(void *_Nullable worker);

/// Waits for events with a timeout in nanoseconds; 0 polls.
/// Returns the number of events, 0 after a timeout or a signal, or the negated errno.
int clinux_epoll_wait(int epoll, struct epoll_event *_Nonnull events, int capacity, int64_t timeout_nanoseconds);

/// Arms a timer descriptor for one expiry at an absolute CLOCK_MONOTONIC time in nanoseconds; 0 disarms it.
/// Returns 0, or the negated errno.
int clinux_timerfd_set(int timer, uint64_t deadline_nanoseconds);
