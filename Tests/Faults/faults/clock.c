// LD_PRELOAD: the process believes that it is CLOCK_OFF_BY seconds later than it is. libfaketime (0.9.10) does the same for
// any program, but libdispatch under it stands still now and then.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t offset(void) {
    static time_t seconds, known;
    if (!known) {
        const char *text = getenv("CLOCK_OFF_BY");
        seconds = text ? atol(text) : 0;
        known = 1;
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += offset();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    int result = syscall(SYS_gettimeofday, time, zone);
    if (result == 0) time->tv_sec += offset();
    return result;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

// libdispatch's idle threads wait until a time of the wall clock, which the kernel has as it is.
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
    int (*wait)(sem_t *, const struct timespec *) = dlsym(RTLD_NEXT, "sem_timedwait");
    struct timespec real = *until;
    real.tv_sec -= offset();
    return wait(semaphore, &real);
}
