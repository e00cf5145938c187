#include "Keys.h"
#include "Internal.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/encoder.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <string.h>

// A longer number would keep a processor busy for a sender.
enum { least_bits = 2048, most_bits = 16384, most_exponent_bits = 33, number_bytes = 32 };

static BIGNUM *number(const EVP_PKEY *key, const char *name) {
    BIGNUM *number = NULL;
    return EVP_PKEY_get_bn_param(key, name, &number) ? number : NULL;
}

enum ccrypto_kind ccrypto_key_kind(const ccrypto_key *key) {
    char group[32];
    enum ccrypto_kind kind = ccrypto_refused;
    if (EVP_PKEY_is_a(key, "RSA")) {
        BIGNUM *n = number(key, OSSL_PKEY_PARAM_RSA_N), *e = number(key, OSSL_PKEY_PARAM_RSA_E);
        if (n && e && BN_num_bits(n) >= least_bits && BN_num_bits(n) <= most_bits && BN_is_odd(n) && BN_is_odd(e)
            && BN_num_bits(e) > 1 && BN_num_bits(e) <= most_exponent_bits)
            kind = ccrypto_rsa;
        BN_free(n);
        BN_free(e);
    } else if (
        EVP_PKEY_is_a(key, "EC") && EVP_PKEY_get_group_name(key, group, sizeof group, NULL)
        && strcmp(group, "prime256v1") == 0) {
        kind = ccrypto_p256;
    }
    ERR_clear_error();
    return kind;
}

// Lets a key in if it is of an accepted kind and, on the curve, in order.
static EVP_PKEY *accepted(EVP_PKEY *key, int is_private) {
    int is_good = key && ccrypto_key_kind(key) != ccrypto_refused;
    if (is_good && ccrypto_key_kind(key) == ccrypto_p256) {
        EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
        is_good = context && EVP_PKEY_public_check(context) == 1 && (!is_private || EVP_PKEY_pairwise_check(context) == 1);
        EVP_PKEY_CTX_free(context);
    }
    if (finished(is_good)) return key;
    EVP_PKEY_free(key);
    return NULL;
}

// MARK: - Making and reading

ccrypto_key *ccrypto_key_new(enum ccrypto_kind kind) {
    return accepted(
        kind == ccrypto_rsa ? EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)least_bits)
                            : EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"), 1);
}

static EVP_PKEY *public_key(const char *type, OSSL_PARAM *parameters) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (!context || !parameters || EVP_PKEY_fromdata_init(context) != 1
        || EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    return accepted(key, 0);
}

ccrypto_key *ccrypto_key_of_rsa(const unsigned char *n, size_t n_count, const unsigned char *e, size_t e_count) {
    if (n_count > most_bits || e_count > most_bits) return NULL;
    BIGNUM *modulus = BN_bin2bn(n, (int)n_count, NULL), *exponent = BN_bin2bn(e, (int)e_count, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    if (modulus && exponent && builder && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus)
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent))
        parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY *key = public_key("RSA", parameters);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_free(modulus);
    BN_free(exponent);
    return key;
}

ccrypto_key *ccrypto_key_of_point(const unsigned char point[65]) {
    if (point[0] != POINT_CONVERSION_UNCOMPRESSED) return NULL;
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, 65),
        OSSL_PARAM_construct_end(),
    };
    return public_key("EC", parameters);
}

ccrypto_key *ccrypto_key_read_pem(const void *pem, int count) {
    ERR_clear_error();
    BIO *bio = BIO_new_mem_buf(pem, count);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
    BIO_free(bio);
    return accepted(key, 1);
}

ccrypto_key *ccrypto_key_read_der(const unsigned char *der, long count) {
    ERR_clear_error();
    const unsigned char *end = der;
    EVP_PKEY *key = d2i_AutoPrivateKey(NULL, &end, count);
    if (key && end != der + count) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    return accepted(key, 1);
}

ccrypto_key *ccrypto_key_read_public(const void *pem, int count) {
    ERR_clear_error();
    BIO *bio = BIO_new_mem_buf(pem, count);
    EVP_PKEY *key = bio ? PEM_read_bio_PUBKEY(bio, NULL, no_password, NULL) : NULL;
    BIO_free(bio);
    return accepted(key, 0);
}

void ccrypto_key_free(ccrypto_key *key) { EVP_PKEY_free(key); }

ccrypto_key *ccrypto_key_share(ccrypto_key *key) {
    EVP_PKEY_up_ref(key);
    return key;
}

// MARK: - Its parts and forms

int ccrypto_key_is_equal(const ccrypto_key *one, const ccrypto_key *other) {
    return finished(EVP_PKEY_eq(one, other) == 1);
}

size_t ccrypto_key_part(const ccrypto_key *key, char part, unsigned char *out, size_t room) {
    const char *name = part == 'n' ? OSSL_PKEY_PARAM_RSA_N
        : part == 'e'              ? OSSL_PKEY_PARAM_RSA_E
        : part == 'x'              ? OSSL_PKEY_PARAM_EC_PUB_X
                                   : OSSL_PKEY_PARAM_EC_PUB_Y;
    BIGNUM *value = number(key, name);
    // A coordinate has all of its bytes (RFC 7518 section 6.2.1.2).
    size_t length = !value ? 0 : part == 'x' || part == 'y' ? number_bytes : (size_t)BN_num_bytes(value);
    if (length > room || (length && BN_bn2binpad(value, out, (int)length) < 0)) length = 0;
    BN_free(value);
    finished(length > 0);
    return length;
}

unsigned char *ccrypto_key_write(const ccrypto_key *key, enum ccrypto_form form, size_t *count) {
    int is_public = form == ccrypto_public_pem || form == ccrypto_public_der;
    int is_der = form == ccrypto_own_der || form == ccrypto_public_der;
    const char *structure = is_public ? "SubjectPublicKeyInfo" : form == ccrypto_pkcs8_pem ? "PrivateKeyInfo" : "type-specific";
    OSSL_ENCODER_CTX *encoder = OSSL_ENCODER_CTX_new_for_pkey(
        key, is_public ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, is_der ? "DER" : "PEM", structure, NULL);
    BIO *bio = BIO_new(BIO_s_mem());
    int is_written = encoder && bio && OSSL_ENCODER_to_bio(encoder, bio);
    OSSL_ENCODER_CTX_free(encoder);
    return taken(bio, is_written, count);
}

// MARK: - Signatures

// Answers a context for signatures in this way, or null where the key is of another kind.
static EVP_MD_CTX *signing(EVP_PKEY *key, enum ccrypto_scheme scheme, int is_verifying) {
    if (ccrypto_key_kind(key) != (scheme == ccrypto_es256 ? ccrypto_p256 : ccrypto_rsa)) return NULL;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *details = NULL;
    int is_ready = context
        && (is_verifying ? EVP_DigestVerifyInit_ex(context, &details, "SHA256", NULL, NULL, key, NULL)
                         : EVP_DigestSignInit_ex(context, &details, "SHA256", NULL, NULL, key, NULL))
            == 1;
    // The mask is made with the same hash, unless it is said otherwise.
    if (is_ready && scheme == ccrypto_ps256)
        is_ready = EVP_PKEY_CTX_set_rsa_padding(details, RSA_PKCS1_PSS_PADDING) > 0
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(details, number_bytes) > 0;
    if (is_ready) return context;
    EVP_MD_CTX_free(context);
    return NULL;
}

// Writes r and s of a signature in DER, 32 bytes each (RFC 7518 section 3.4).
static size_t numbers_of_der(const unsigned char *der, size_t count, unsigned char *out) {
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &der, (long)count);
    int is_written = signature && BN_bn2binpad(ECDSA_SIG_get0_r(signature), out, number_bytes) == number_bytes
        && BN_bn2binpad(ECDSA_SIG_get0_s(signature), out + number_bytes, number_bytes) == number_bytes;
    ECDSA_SIG_free(signature);
    return is_written ? 2 * number_bytes : 0;
}

// Answers the DER of r and s, for OPENSSL_free, or null.
static unsigned char *der_of_numbers(const unsigned char *numbers, size_t count, size_t *der_count) {
    if (count != 2 * number_bytes) return NULL;
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(numbers, number_bytes, NULL), *s = BN_bin2bn(numbers + number_bytes, number_bytes, NULL);
    unsigned char *der = NULL;
    if (signature && r && s && ECDSA_SIG_set0(signature, r, s)) {
        int length = i2d_ECDSA_SIG(signature, &der);
        *der_count = length > 0 ? (size_t)length : 0;
    } else {
        BN_free(r);
        BN_free(s);
    }
    ECDSA_SIG_free(signature);
    return der;
}

size_t ccrypto_key_sign(
    ccrypto_key *key, enum ccrypto_scheme scheme, const void *bytes, size_t count, unsigned char *out, size_t room) {
    ERR_clear_error();
    unsigned char der[128];
    size_t length = scheme == ccrypto_es256 ? sizeof der : room;
    EVP_MD_CTX *context = signing(key, scheme, 0);
    if (!context || EVP_DigestSign(context, scheme == ccrypto_es256 ? der : out, &length, bytes, count) != 1) length = 0;
    EVP_MD_CTX_free(context);
    if (scheme == ccrypto_es256 && length) length = room < 2 * number_bytes ? 0 : numbers_of_der(der, length, out);
    finished(length > 0);
    return length;
}

int ccrypto_key_verify(
    ccrypto_key *key, enum ccrypto_scheme scheme, const void *bytes, size_t count, const unsigned char *signature,
    size_t signature_count) {
    ERR_clear_error();
    unsigned char *der = NULL;
    if (scheme == ccrypto_es256) signature = der = der_of_numbers(signature, signature_count, &signature_count);
    EVP_MD_CTX *context = signature ? signing(key, scheme, 1) : NULL;
    int is_valid = context && EVP_DigestVerify(context, signature, signature_count, bytes, count) == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    return finished(is_valid);
}
