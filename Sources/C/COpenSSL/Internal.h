// Shared by the files of this target, and hidden from Swift.
#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stddef.h>

// A file without a password: none is asked for at the terminal.
static inline int no_password(char *buffer, int size, int sealing, void *unused) {
    (void)buffer;
    (void)size;
    (void)sealing;
    (void)unused;
    return -1;
}

// Ends a call: a failed one leaves no error for the next call of this thread.
static inline int finished(int is_done) {
    if (!is_done) ERR_clear_error();
    return is_done;
}

// Answers a copy of what was written, for `ccrypto_release`, and ends the BIO.
static inline unsigned char *taken(BIO *bio, int is_written, size_t *count) {
    char *bytes = NULL;
    long length = bio && is_written ? BIO_get_mem_data(bio, &bytes) : 0;
    unsigned char *copy = length > 0 ? OPENSSL_memdup(bytes, (size_t)length) : NULL;
    *count = copy ? (size_t)length : 0;
    BIO_free(bio);
    finished(copy != NULL);
    return copy;
}
