#define _GNU_SOURCE
#include "Certificates.h"
#include "Internal.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <limits.h>
#include <string.h>
#include <time.h>

// MARK: - Reading

static int read_time(const ASN1_TIME *time, long long *seconds) {
    struct tm parts;
    if (!ASN1_TIME_to_tm(time, &parts)) return 0;
    *seconds = (long long)timegm(&parts);
    return 1;
}

ccrypto_certificate *ccrypto_certificate_read_der(const unsigned char *der, size_t count) {
    ERR_clear_error();
    const unsigned char *next = der;
    X509 *certificate = count <= LONG_MAX ? d2i_X509(NULL, &next, (long)count) : NULL;
    unsigned char *again = NULL;
    int length = certificate ? i2d_X509(certificate, &again) : 0;
    long long ignored;
    // There is one DER of a certificate, and a thumbprint is one of all its bytes.
    int is_good = length > 0 && (size_t)length == count && memcmp(again, der, count) == 0
        && read_time(X509_get0_notBefore(certificate), &ignored) && read_time(X509_get0_notAfter(certificate), &ignored);
    OPENSSL_free(again);
    if (finished(is_good)) return certificate;
    X509_free(certificate);
    return NULL;
}

ccrypto_certificate *ccrypto_certificate_read_pem(const void *pem, int count, int *is_pem) {
    ERR_clear_error();
    *is_pem = 0;
    X509 *certificate = NULL;
    char *name = NULL, *header = NULL;
    unsigned char *der = NULL;
    long length = 0;
    BIO *bio = BIO_new_mem_buf(pem, count);
    while (bio && !*is_pem && PEM_read_bio(bio, &name, &header, &der, &length)) {
        *is_pem = strcmp(name, PEM_STRING_X509) == 0;
        if (*is_pem) certificate = ccrypto_certificate_read_der(der, (size_t)length);
        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_free(der);
    }
    BIO_free(bio);
    ERR_clear_error();
    return certificate;
}

void ccrypto_certificate_free(ccrypto_certificate *certificate) { X509_free(certificate); }

unsigned char *ccrypto_certificate_write(const ccrypto_certificate *certificate, int is_pem, size_t *count) {
    BIO *bio = BIO_new(BIO_s_mem());
    return taken(bio, bio && (is_pem ? PEM_write_bio_X509(bio, certificate) : i2d_X509_bio(bio, certificate)), count);
}

unsigned char *ccrypto_certificate_name(const ccrypto_certificate *certificate, int is_issuer, size_t *count) {
    const X509_NAME *name = is_issuer ? X509_get_issuer_name(certificate) : X509_get_subject_name(certificate);
    BIO *bio = BIO_new(BIO_s_mem());
    return taken(bio, bio && X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) >= 0, count);
}

long long ccrypto_certificate_start(const ccrypto_certificate *certificate) {
    long long seconds = 0;
    return read_time(X509_get0_notBefore(certificate), &seconds) ? seconds : 0;
}

long long ccrypto_certificate_end(const ccrypto_certificate *certificate) {
    long long seconds = 0;
    return read_time(X509_get0_notAfter(certificate), &seconds) ? seconds : 0;
}

ccrypto_key *ccrypto_certificate_key(const ccrypto_certificate *certificate) {
    ERR_clear_error();
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    return finished(key && ccrypto_key_kind(key) != ccrypto_refused) ? ccrypto_key_share(key) : NULL;
}

int ccrypto_certificate_is_signed(ccrypto_certificate *certificate, ccrypto_key *key) {
    ERR_clear_error();
    return finished(X509_verify(certificate, key) == 1);
}

// MARK: - Making

int ccrypto_certificate_has(const ccrypto_certificate *certificate, const char *name, const char *value) {
    ERR_clear_error();
    X509_EXTENSION *wanted = X509V3_EXT_nconf(NULL, NULL, name, value);
    int place = wanted ? X509_get_ext_by_OBJ(certificate, X509_EXTENSION_get_object(wanted), -1) : -1;
    X509_EXTENSION *found = place < 0 ? NULL : X509_get_ext(certificate, place);
    int has = found && X509_EXTENSION_get_critical(found) == X509_EXTENSION_get_critical(wanted)
        && ASN1_OCTET_STRING_cmp(X509_EXTENSION_get_data(found), X509_EXTENSION_get_data(wanted)) == 0;
    X509_EXTENSION_free(wanted);
    return finished(has);
}

// Sets a positive number of 20 bytes, the most that there may be (RFC 5280 section 4.1.2.2).
static int set_serial(X509 *certificate) {
    unsigned char bytes[20];
    if (RAND_bytes(bytes, sizeof bytes) != 1) return 0;
    bytes[0] = (bytes[0] & 0x3F) | 0x40;
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    int is_set = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return is_set;
}

ccrypto_certificate *ccrypto_certificate_new(
    ccrypto_key *key, const char *common_name, long long start, long long end, const ccrypto_certificate *issuer) {
    ERR_clear_error();
    X509 *certificate = X509_new();
    X509_NAME *name = X509_NAME_new();
    int is_made = certificate && name && X509_set_version(certificate, X509_VERSION_3) && set_serial(certificate)
        && X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, (const unsigned char *)common_name, -1, -1, 0)
        && X509_set_subject_name(certificate, name)
        && X509_set_issuer_name(certificate, issuer ? X509_get_subject_name(issuer) : name)
        && ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)start)
        && ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)end) && X509_set_pubkey(certificate, key);
    X509_NAME_free(name);
    if (finished(is_made)) return certificate;
    X509_free(certificate);
    return NULL;
}

int ccrypto_certificate_add(
    ccrypto_certificate *certificate, ccrypto_certificate *issuer, const char *name, const char *value) {
    ERR_clear_error();
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer ? issuer : certificate, certificate, NULL, NULL, 0);
    X509V3_set_ctx_nodb(&context);
    X509_EXTENSION *extension = X509V3_EXT_nconf(NULL, &context, name, value);
    int is_added = extension && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return finished(is_added);
}

int ccrypto_certificate_sign(ccrypto_certificate *certificate, ccrypto_key *key) {
    ERR_clear_error();
    return finished(X509_sign(certificate, key, EVP_sha256()) > 0);
}
