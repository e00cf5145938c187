#include "Symmetric.h"
#include "Internal.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <pthread.h>

enum { hash_bytes = 32, nonce_bytes = 12, tag_bytes = 16 };

// Looking an algorithm up takes longer than hashing 64 bytes.
static struct {
    EVP_MD *sha256;
    EVP_MD *sha1;
    EVP_CIPHER *aes;
} fetched;
static pthread_once_t fetched_once = PTHREAD_ONCE_INIT;
// Each thread has one context, which saves three allocations for each hash.
static _Thread_local EVP_MD_CTX *scratch;
static pthread_key_t scratch_key;

static void free_scratch(void *context) {
    scratch = NULL;
    EVP_MD_CTX_free(context);
}

// At the end of the process other threads may still hash, so that OpenSSL must not clean up. It hears of this before anybody
// else has initialised it.
__attribute__((constructor)) static void keep_at_exit(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

static void fetch(void) {
    fetched.sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    fetched.sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
    fetched.aes = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    pthread_key_create(&scratch_key, free_scratch);
}

// Answers the context of this thread, or null.
static EVP_MD_CTX *thread_context(void) {
    pthread_once(&fetched_once, fetch);
    if (!scratch) {
        scratch = EVP_MD_CTX_new();
        pthread_setspecific(scratch_key, scratch);
    }
    return scratch;
}

// MARK: - Hashes

int ccrypto_sha256(const void *bytes, size_t count, unsigned char digest[32]) {
    EVP_MD_CTX *context = thread_context();
    return finished(
        context && EVP_DigestInit_ex2(context, fetched.sha256, NULL) && EVP_DigestUpdate(context, bytes, count)
        && EVP_DigestFinal_ex(context, digest, NULL));
}

int ccrypto_sha1(const void *bytes, size_t count, unsigned char digest[20]) {
    pthread_once(&fetched_once, fetch);
    return finished(fetched.sha1 && EVP_Digest(bytes, count, digest, NULL, fetched.sha1, NULL));
}

ccrypto_hash *ccrypto_hash_new(void) {
    pthread_once(&fetched_once, fetch);
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    if (hash && EVP_DigestInit_ex2(hash, fetched.sha256, NULL)) return hash;
    EVP_MD_CTX_free(hash);
    ERR_clear_error();
    return NULL;
}

void ccrypto_hash_free(ccrypto_hash *hash) { EVP_MD_CTX_free(hash); }

int ccrypto_hash_update(ccrypto_hash *hash, const void *bytes, size_t count) {
    return finished(EVP_DigestUpdate(hash, bytes, count));
}

int ccrypto_hash_finish(ccrypto_hash *hash, unsigned char digest[32]) {
    return finished(EVP_DigestFinal_ex(hash, digest, NULL));
}

// MARK: - HMAC

ccrypto_mac *ccrypto_mac_new(const void *key, size_t count) {
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *mac = hmac ? EVP_MAC_CTX_new(hmac) : NULL;
    EVP_MAC_free(hmac);
    // Null would mean the key that is there already.
    if (mac && EVP_MAC_init(mac, key ? key : (const void *)"", count, parameters)) return mac;
    EVP_MAC_CTX_free(mac);
    ERR_clear_error();
    return NULL;
}

void ccrypto_mac_free(ccrypto_mac *mac) { EVP_MAC_CTX_free(mac); }

int ccrypto_mac_code(const ccrypto_mac *mac, const void *bytes, size_t count, unsigned char code[32]) {
    size_t length = 0;
    EVP_MAC_CTX *copy = EVP_MAC_CTX_dup(mac);
    int is_done = copy && EVP_MAC_update(copy, bytes, count) && EVP_MAC_final(copy, code, &length, hash_bytes);
    EVP_MAC_CTX_free(copy);
    return finished(is_done && length == hash_bytes);
}

int ccrypto_hkdf(
    const void *key, size_t key_count, const void *salt, size_t salt_count, const void *info, size_t info_count,
    unsigned char *out, size_t out_count) {
    OSSL_PARAM parameters[5], *next = parameters;
    *next++ = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, "SHA256", 0);
    *next++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)key, key_count);
    if (salt_count) *next++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_count);
    if (info_count) *next++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count);
    *next = OSSL_PARAM_construct_end();
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    int is_derived = context && EVP_KDF_derive(context, out, out_count, parameters) == 1;
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return finished(is_derived);
}

// MARK: - Sealing

int ccrypto_seal(
    const unsigned char key[32], const void *bytes, int count, const void *place, int place_count, unsigned char *sealed) {
    pthread_once(&fetched_once, fetch);
    unsigned char *nonce = sealed, *text = sealed + nonce_bytes, *tag = text + count;
    int length = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int is_sealed = context && RAND_bytes(nonce, nonce_bytes) == 1
        && EVP_EncryptInit_ex2(context, fetched.aes, key, nonce, NULL)
        && (!place_count || EVP_EncryptUpdate(context, NULL, &length, place, place_count))
        && (!count || EVP_EncryptUpdate(context, text, &length, bytes, count)) && EVP_EncryptFinal_ex(context, tag, &length)
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_bytes, tag) == 1;
    EVP_CIPHER_CTX_free(context);
    return finished(is_sealed);
}

int ccrypto_open(
    const unsigned char key[32], const unsigned char *sealed, int count, const void *place, int place_count,
    unsigned char *bytes) {
    pthread_once(&fetched_once, fetch);
    int text_count = count - nonce_bytes - tag_bytes, length = 0;
    if (text_count < 0) return 0;
    const unsigned char *text = sealed + nonce_bytes, *tag = text + text_count;
    unsigned char rest[tag_bytes];
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int is_open = context && EVP_DecryptInit_ex2(context, fetched.aes, key, sealed, NULL)
        && (!place_count || EVP_DecryptUpdate(context, NULL, &length, place, place_count))
        && (!text_count || EVP_DecryptUpdate(context, bytes, &length, text, text_count))
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_bytes, (void *)tag) == 1
        && EVP_DecryptFinal_ex(context, rest, &length) == 1;
    EVP_CIPHER_CTX_free(context);
    if (!is_open) OPENSSL_cleanse(bytes, (size_t)text_count);
    return finished(is_open);
}

// MARK: - Bytes

int ccrypto_random(void *bytes, size_t count) { return finished(RAND_bytes_ex(NULL, bytes, count, 0) == 1); }

int ccrypto_is_equal(const void *left, const void *right, size_t count) { return CRYPTO_memcmp(left, right, count) == 0; }

void ccrypto_cleanse(void *bytes, size_t count) { OPENSSL_cleanse(bytes, count); }

void ccrypto_release(void *bytes, size_t count) { OPENSSL_clear_free(bytes, count); }
