// Hashes, message authentication, sealing and random bytes of libcrypto. A function that can fail answers 1 where it has done
// its work and 0 where it has not.
#pragma once
#include <stddef.h>

/// SHA-256 (FIPS 180-4).
int ccrypto_sha256(const void *_Nullable bytes, size_t count, unsigned char digest[_Nonnull 32]);
/// SHA-1 (FIPS 180-4).
int ccrypto_sha1(const void *_Nullable bytes, size_t count, unsigned char digest[_Nonnull 20]);

/// SHA-256 of bytes that come one after the other.
typedef struct evp_md_ctx_st ccrypto_hash;
ccrypto_hash *_Nullable ccrypto_hash_new(void);
void ccrypto_hash_free(ccrypto_hash *_Nullable hash);
int ccrypto_hash_update(ccrypto_hash *_Nonnull hash, const void *_Nullable bytes, size_t count);
int ccrypto_hash_finish(ccrypto_hash *_Nonnull hash, unsigned char digest[_Nonnull 32]);

/// A key of HMAC with SHA-256 (RFC 2104). It is copied for each code, so that several threads may use it.
typedef struct evp_mac_ctx_st ccrypto_mac;
ccrypto_mac *_Nullable ccrypto_mac_new(const void *_Nullable key, size_t count);
void ccrypto_mac_free(ccrypto_mac *_Nullable mac);
int ccrypto_mac_code(
    const ccrypto_mac *_Nonnull mac, const void *_Nullable bytes, size_t count, unsigned char code[_Nonnull 32]);

/// HKDF with SHA-256 (RFC 5869).
int ccrypto_hkdf(
    const void *_Nonnull key, size_t key_count, const void *_Nullable salt, size_t salt_count, const void *_Nullable info,
    size_t info_count, unsigned char *_Nonnull out, size_t out_count);

/// AES-256-GCM (NIST SP 800-38D) with a nonce of 12 random bytes and a tag of 16. `sealed` has room for 28 bytes more than
/// `bytes`: the nonce, the ciphertext, the tag.
int ccrypto_seal(
    const unsigned char key[_Nonnull 32], const void *_Nullable bytes, int count, const void *_Nullable place,
    int place_count, unsigned char *_Nonnull sealed);
/// Opens at least 28 bytes into 28 fewer. Where they are not in order, nothing is left in `bytes`.
int ccrypto_open(
    const unsigned char key[_Nonnull 32], const unsigned char *_Nonnull sealed, int count, const void *_Nullable place,
    int place_count, unsigned char *_Nonnull bytes);

/// Fills the bytes from OpenSSL's generator.
int ccrypto_random(void *_Nonnull bytes, size_t count);
/// Whether the bytes are equal. The time depends on their count alone.
int ccrypto_is_equal(const void *_Nonnull left, const void *_Nonnull right, size_t count);
/// Overwrites a secret, which the compiler may not leave out.
void ccrypto_cleanse(void *_Nonnull bytes, size_t count);
/// Overwrites and frees bytes that another function has answered.
void ccrypto_release(void *_Nullable bytes, size_t count);
