// Keys and signatures of libcrypto: RSA and P-256, and no others.
#pragma once
#include <stddef.h>

/// A key that is of an accepted kind: RSA with a modulus of 2048 to 16384 bits and an odd exponent of 2 to 33 bits, or a point
/// on P-256. Several threads may use one.
typedef struct evp_pkey_st ccrypto_key;
enum ccrypto_kind { ccrypto_refused, ccrypto_rsa, ccrypto_p256 };

/// The signatures of RFC 7518 section 3: RSASSA-PKCS1-v1_5, RSASSA-PSS with a salt of 32 bytes, ECDSA as r and s. All hash with
/// SHA-256.
enum ccrypto_scheme { ccrypto_rs256, ccrypto_ps256, ccrypto_es256 };

/// The encodings of a key: private ones are PKCS #8, or PKCS #1 and SEC 1 ("own"); public ones are SPKI.
enum ccrypto_form { ccrypto_pkcs8_pem, ccrypto_own_der, ccrypto_public_pem, ccrypto_public_der };

/// Makes a key: RSA of 2048 bits with the exponent 65537, or P-256.
ccrypto_key *_Nullable ccrypto_key_new(enum ccrypto_kind kind);
/// Takes a modulus and an exponent, each with its highest byte first.
ccrypto_key *_Nullable ccrypto_key_of_rsa(
    const unsigned char *_Nonnull n, size_t n_count, const unsigned char *_Nonnull e, size_t e_count);
/// Takes an uncompressed point: 4, x, y.
ccrypto_key *_Nullable ccrypto_key_of_point(const unsigned char point[_Nonnull 65]);
/// Reads the first private key of a PEM text, in any of the forms. An encrypted one is refused; nobody is asked for a password.
ccrypto_key *_Nullable ccrypto_key_read_pem(const void *_Nonnull pem, int count);
/// Reads one private key in DER, without bytes behind it.
ccrypto_key *_Nullable ccrypto_key_read_der(const unsigned char *_Nonnull der, long count);
/// Reads the first public key (SPKI) of a PEM text.
ccrypto_key *_Nullable ccrypto_key_read_public(const void *_Nonnull pem, int count);
void ccrypto_key_free(ccrypto_key *_Nullable key);
/// Adds an owner.
ccrypto_key *_Nonnull ccrypto_key_share(ccrypto_key *_Nonnull key);

enum ccrypto_kind ccrypto_key_kind(const ccrypto_key *_Nonnull key);
/// Whether both have the same public part.
int ccrypto_key_is_equal(const ccrypto_key *_Nonnull one, const ccrypto_key *_Nonnull other);
/// Writes one of the numbers `n`, `e`, `x` and `y`, the highest byte first. Answers how many bytes it has, 0 if there is none
/// or `out` has no room.
size_t ccrypto_key_part(const ccrypto_key *_Nonnull key, char part, unsigned char *_Nonnull out, size_t room);
/// Answers the key in a form, for `ccrypto_release`.
unsigned char *_Nullable ccrypto_key_write(const ccrypto_key *_Nonnull key, enum ccrypto_form form, size_t *_Nonnull count);

/// Signs. Answers how many bytes the signature has, 0 if the key is of another kind or cannot sign, or `out` has no room.
size_t ccrypto_key_sign(
    ccrypto_key *_Nonnull key, enum ccrypto_scheme scheme, const void *_Nullable bytes, size_t count,
    unsigned char *_Nonnull out, size_t room);
/// Whether the key has signed the bytes in this way.
int ccrypto_key_verify(
    ccrypto_key *_Nonnull key, enum ccrypto_scheme scheme, const void *_Nullable bytes, size_t count,
    const unsigned char *_Nullable signature, size_t signature_count);
