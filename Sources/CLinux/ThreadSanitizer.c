// Only under Thread Sanitizer: shows it the one lock that it cannot see.
//
// Synchronization.Mutex is inlined into our code, which the sanitizer instruments, except for its slow paths: a lock
// that has to wait and an unlock that somebody waits for are in libswiftSynchronization and go unseen, and what the
// lock protects then looks like a race. These functions take the place of those three, call them, and tell the
// sanitizer what they did.
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
