// Certificates of libcrypto (RFC 5280).
#pragma once
#include "Keys.h"

typedef struct x509_st ccrypto_certificate;

/// Reads the first certificate of a PEM text. `is_pem` says whether there was one, readable or not.
ccrypto_certificate *_Nullable ccrypto_certificate_read_pem(const void *_Nonnull pem, int count, int *_Nonnull is_pem);
/// Reads one certificate in DER, without bytes behind it.
ccrypto_certificate *_Nullable ccrypto_certificate_read_der(const unsigned char *_Nonnull der, size_t count);
void ccrypto_certificate_free(ccrypto_certificate *_Nullable certificate);

/// Answers the certificate in PEM or DER, for `ccrypto_release`.
unsigned char *_Nullable ccrypto_certificate_write(
    const ccrypto_certificate *_Nonnull certificate, int is_pem, size_t *_Nonnull count);
/// Answers the subject's name in the form of RFC 4514, or the issuer's, for `ccrypto_release`.
unsigned char *_Nullable ccrypto_certificate_name(
    const ccrypto_certificate *_Nonnull certificate, int is_issuer, size_t *_Nonnull count);
/// The first and the last second in which it is valid, since 1970.
long long ccrypto_certificate_start(const ccrypto_certificate *_Nonnull certificate);
long long ccrypto_certificate_end(const ccrypto_certificate *_Nonnull certificate);
/// Answers its public key, for `ccrypto_key_free`, or null if that is none of the accepted ones.
ccrypto_key *_Nullable ccrypto_certificate_key(const ccrypto_certificate *_Nonnull certificate);
/// Whether the key has signed it.
int ccrypto_certificate_is_signed(ccrypto_certificate *_Nonnull certificate, ccrypto_key *_Nonnull key);
/// Whether it has this extension with this value, in the words of OpenSSL's configuration.
int ccrypto_certificate_has(
    const ccrypto_certificate *_Nonnull certificate, const char *_Nonnull name, const char *_Nonnull value);

/// Begins a certificate with a random serial number. Without an issuer it is its own.
ccrypto_certificate *_Nullable ccrypto_certificate_new(
    ccrypto_key *_Nonnull key, const char *_Nonnull common_name, long long start, long long end,
    const ccrypto_certificate *_Nullable issuer);
/// Adds an extension in the words of OpenSSL's configuration.
int ccrypto_certificate_add(
    ccrypto_certificate *_Nonnull certificate, ccrypto_certificate *_Nullable issuer, const char *_Nonnull name,
    const char *_Nonnull value);
/// Signs with SHA-256.
int ccrypto_certificate_sign(ccrypto_certificate *_Nonnull certificate, ccrypto_key *_Nonnull key);
