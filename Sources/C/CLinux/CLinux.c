#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>

int clinux_accept(int listener, struct sockaddr_storage *peer) {
    socklen_t length = sizeof *peer;
    int connection =
        accept4(listener, (struct sockaddr *)peer, peer ? &length : NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return connection >= 0 ? connection : -errno;
}

static _Thread_local void *current_worker;

void *clinux_current_worker(void) { return current_worker; }

void clinux_set_current_worker(void *worker) { current_worker = worker; }

int clinux_epoll_wait(int epoll, struct epoll_event *events, int capacity, int64_t timeout_nanoseconds) {
    int count = -1;
    errno = ENOSYS;
    if (timeout_nanoseconds <= 0) {
        count = epoll_wait(epoll, events, capacity, 0);
    } else {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
        // Kernels before 5.11 and some seccomp filters refuse epoll_pwait2. This is tried once and remembered.
        static atomic_bool refused;
        if (!atomic_load_explicit(&refused, memory_order_relaxed)) {
            struct timespec timeout = {timeout_nanoseconds / 1000000000, timeout_nanoseconds % 1000000000};
            count = epoll_pwait2(epoll, events, capacity, &timeout, NULL);
            if (count < 0 && (errno == ENOSYS || errno == EPERM)) {
                atomic_store_explicit(&refused, 1, memory_order_relaxed);
                errno = ENOSYS;
            }
        }
#endif
        if (count < 0 && errno == ENOSYS) {
            int64_t milliseconds = (timeout_nanoseconds + 999999) / 1000000;
            count = epoll_wait(epoll, events, capacity, milliseconds > 1000 ? 1000 : (int)milliseconds);
        }
    }
    if (count >= 0) return count;
    return errno == EINTR ? 0 : -errno;
}

int clinux_timerfd_set(int timer, uint64_t deadline_nanoseconds) {
    struct itimerspec at = {
        .it_value = {(time_t)(deadline_nanoseconds / 1000000000), (long)(deadline_nanoseconds % 1000000000)}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL) == 0 ? 0 : -errno;
}
