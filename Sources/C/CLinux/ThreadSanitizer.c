// Only under Thread Sanitizer: makes the one lock visible that it cannot see.
//
// Synchronization.Mutex is inlined into our code, which the sanitizer instruments, except for its slow paths. A lock
// that has to wait, and an unlock that another thread waits for, are in libswiftSynchronization. The sanitizer does not
// see them, and the data that the lock protects then appears to have a race. These functions replace the three
// functions of the slow paths, call them, and report to the sanitizer what they did.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *address);
void __tsan_release(void *address);

SWIFT void clinux_lock_slow(uint32_t state, SELF) __asm__(LOCK_SLOW);
SWIFT bool clinux_try_lock_slow(SELF) __asm__(TRY_LOCK_SLOW);
SWIFT void clinux_unlock_slow(SELF) __asm__(UNLOCK_SLOW);

static void *original(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) abort();
    return function;
}

SWIFT void clinux_lock_slow(uint32_t state, SELF) {
    ((SWIFT void (*)(uint32_t, SELF))original(LOCK_SLOW))(state, mutex);
    __tsan_acquire(mutex);
}

SWIFT bool clinux_try_lock_slow(SELF) {
    bool locked = ((SWIFT bool (*)(SELF))original(TRY_LOCK_SLOW))(mutex);
    if (locked) __tsan_acquire(mutex);
    return locked;
}

SWIFT void clinux_unlock_slow(SELF) {
    __tsan_release(mutex);
    ((SWIFT void (*)(SELF))original(UNLOCK_SLOW))(mutex);
}
#endif
#endif
