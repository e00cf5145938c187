#define _GNU_SOURCE
#include "TLS.h"
#include "Internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

struct ctls_context {
    SSL_CTX *ssl;
    ctls_ticket_keys answer;
    void *keys;
};

struct ctls_session {
    SSL *ssl;
    int descriptor;
    // The client's end is behind what the socket has.
    unsigned char is_last;
    // The socket had less than was asked for, so that it is empty until its next edge.
    unsigned char is_drained;
    unsigned char has_failed;
    unsigned char is_shut_down;
};

// MARK: - The socket

static int socket_read(BIO *bio, char *bytes, size_t count, size_t *taken) {
    ctls_session *session = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    *taken = 0;
    if (session->is_drained) {
        BIO_set_retry_read(bio);
        return 0;
    }
    ssize_t received;
    do received = recv(session->descriptor, bytes, count, 0); while (received < 0 && errno == EINTR);
    if (received > 0) {
        *taken = (size_t)received;
        session->is_drained = *taken < count && !session->is_last;
        return 1;
    }
    if (received == 0) {
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    } else if (errno == EAGAIN) {
        session->is_drained = 1;
        BIO_set_retry_read(bio);
    }
    return 0;
}

static int socket_write(BIO *bio, const char *bytes, size_t count, size_t *taken) {
    const ctls_session *session = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    *taken = 0;
    ssize_t sent;
    do sent = send(session->descriptor, bytes, count, MSG_NOSIGNAL); while (sent < 0 && errno == EINTR);
    if (sent >= 0) {
        *taken = (size_t)sent;
        return 1;
    }
    if (errno == EAGAIN) BIO_set_retry_write(bio);
    return 0;
}

static long socket_control(BIO *bio, int command, long number, void *pointer) {
    (void)number;
    (void)pointer;
    if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
    return command == BIO_CTRL_FLUSH;
}

static int socket_create(BIO *bio) {
    BIO_set_init(bio, 1);
    return 1;
}

static BIO_METHOD *socket_method;
static pthread_once_t socket_method_once = PTHREAD_ONCE_INIT;

static void make_socket_method(void) {
    socket_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (socket_method && BIO_meth_set_read_ex(socket_method, socket_read)
        && BIO_meth_set_write_ex(socket_method, socket_write) && BIO_meth_set_ctrl(socket_method, socket_control)
        && BIO_meth_set_create(socket_method, socket_create))
        return;
    BIO_meth_free(socket_method);
    socket_method = NULL;
}

// MARK: - The context

static int select_protocol(
    SSL *ssl, const unsigned char **chosen, unsigned char *length, const unsigned char *offered, unsigned int count,
    void *unused) {
    (void)ssl;
    (void)unused;
    static const unsigned char http[] = "\x08http/1.1";
    if (SSL_select_next_proto((unsigned char **)chosen, length, http, sizeof http - 1, offered, count)
        == OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_OK;
    // RFC 7301 section 3.2: no_application_protocol.
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static int ticket_keys(
    SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int sealing) {
    const ctls_context *context = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    unsigned char aes[32], hmac[32];
    int answer = context->answer(context->keys, sealing, name, aes, hmac);
    if (answer > 0) {
        OSSL_PARAM parameters[] = {
            OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, hmac, sizeof hmac),
            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
            OSSL_PARAM_construct_end(),
        };
        int length = EVP_CIPHER_get_iv_length(EVP_aes_256_cbc());
        if ((sealing && RAND_bytes(iv, length) <= 0) || !EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, aes, iv, sealing)
            || !EVP_MAC_CTX_set_params(mac, parameters))
            answer = -1;
    }
    OPENSSL_cleanse(aes, sizeof aes);
    OPENSSL_cleanse(hmac, sizeof hmac);
    // A client of TLS 1.3 uses each ticket once (RFC 8446 section C.4), so that it needs another.
    return answer == 1 && !sealing && SSL_version(ssl) == TLS1_3_VERSION ? 2 : answer;
}

ctls_context *ctls_context_new(ctls_ticket_keys answer, void *keys) {
    ERR_clear_error();
    pthread_once(&socket_method_once, make_socket_method);
    ctls_context *context = malloc(sizeof *context);
    if (!context) return NULL;
    *context = (ctls_context){.ssl = SSL_CTX_new(TLS_server_method()), .answer = answer, .keys = keys};
    SSL_CTX *ssl = context->ssl;
    static const unsigned char name[] = "companion";
    if (!ssl || !socket_method || !SSL_CTX_set_min_proto_version(ssl, TLS1_2_VERSION)
        // Forward secrecy and authenticated encryption only.
        || !SSL_CTX_set_cipher_list(ssl, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL")
        // Of finite fields (ffdhe8192) a client can ask for a hundred times the work (CVE-2022-40735). The first group is one of
        // OpenSSL 3.5.
        || !(SSL_CTX_set1_groups_list(ssl, "X25519MLKEM768:X25519:P-256:P-384:P-521")
             || SSL_CTX_set1_groups_list(ssl, "X25519:P-256:P-384:P-521"))
        || !SSL_CTX_set_session_id_context(ssl, name, sizeof name - 1)
        || !SSL_CTX_set_tlsext_ticket_key_evp_cb(ssl, ticket_keys)) {
        ctls_context_free(context);
        return NULL;
    }
    SSL_CTX_set_app_data(ssl, context);
    // An end without close_notify is an end, as over TCP: each message says how long it is (RFC 9112 section 9.8).
    SSL_CTX_set_options(
        ssl, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA
                 | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(
        ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
    // Each connection brings one, for one connection to come.
    SSL_CTX_set_num_tickets(ssl, 1);
    // A header and its record in one call.
    SSL_CTX_set_read_ahead(ssl, 1);
    SSL_CTX_set_alpn_select_cb(ssl, select_protocol, NULL);
    return context;
}

void ctls_context_free(ctls_context *context) {
    if (!context) return;
    SSL_CTX_free(context->ssl);
    free(context);
}

// The reason of the oldest error. There is one where a function has failed, but nothing promises it.
static unsigned long last_error(void) {
    unsigned long code = ERR_peek_error();
    ERR_clear_error();
    return code ? code : 1;
}

unsigned long ctls_context_use_chain(ctls_context *context, const char *pem, int count) {
    ERR_clear_error();
    BIO *bio = BIO_new_mem_buf(pem, count);
    X509 *leaf = bio ? PEM_read_bio_X509_AUX(bio, NULL, no_password, NULL) : NULL;
    int is_used = leaf && SSL_CTX_use_certificate(context->ssl, leaf) == 1 && SSL_CTX_clear_chain_certs(context->ssl) == 1;
    X509_free(leaf);
    X509 *next;
    while (is_used && (next = PEM_read_bio_X509(bio, NULL, no_password, NULL))) {
        is_used = SSL_CTX_add0_chain_cert(context->ssl, next) == 1;
        if (!is_used) X509_free(next);
    }
    // After the last one there is no further beginning.
    unsigned long code = ERR_peek_last_error();
    if (is_used && code && ERR_GET_REASON(code) != PEM_R_NO_START_LINE) is_used = 0;
    BIO_free(bio);
    if (!is_used) return last_error();
    ERR_clear_error();
    return 0;
}

unsigned long ctls_context_use_key(ctls_context *context, const char *pem, int count) {
    ERR_clear_error();
    BIO *bio = BIO_new_mem_buf(pem, count);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
    // It has to fit the certificate that is used already.
    int is_used = key && SSL_CTX_use_PrivateKey(context->ssl, key) == 1 && SSL_CTX_check_private_key(context->ssl) == 1;
    EVP_PKEY_free(key);
    BIO_free(bio);
    return is_used ? 0 : last_error();
}

const char *ctls_reason(unsigned long code) {
    const char *reason = ERR_reason_error_string(code);
    return reason ? reason : "unknown";
}

// MARK: - What a certificate says

static long long seconds_since_1970(const ASN1_TIME *time) {
    struct tm parts;
    return ASN1_TIME_to_tm(time, &parts) ? (long long)timegm(&parts) : 0;
}

static void append_name(char *names, size_t size, const char *name) {
    size_t length = strlen(names);
    snprintf(names + length, size - length, "%s%s", length ? ", " : "", name);
}

static void read_names(X509 *leaf, char *names, size_t size) {
    GENERAL_NAMES *all = X509_get_ext_d2i(leaf, NID_subject_alt_name, NULL, NULL);
    for (int place = 0; place < sk_GENERAL_NAME_num(all); place++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(all, place);
        char text[INET6_ADDRSTRLEN];
        if (name->type == GEN_DNS) {
            append_name(names, size, (const char *)ASN1_STRING_get0_data(name->d.dNSName));
        } else if (name->type == GEN_IPADD) {
            int length = ASN1_STRING_length(name->d.iPAddress);
            int family = length == 4 ? AF_INET : length == 16 ? AF_INET6 : 0;
            if (family && inet_ntop(family, ASN1_STRING_get0_data(name->d.iPAddress), text, sizeof text))
                append_name(names, size, text);
        }
    }
    GENERAL_NAMES_free(all);
}

// Answers why the chain leads to no authority of this machine, or null.
static const char *find_distrust(X509 *leaf, STACK_OF(X509) *others) {
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *check = X509_STORE_CTX_new();
    const char *distrust = "out of memory";
    if (store && check && X509_STORE_set_default_paths(store) && X509_STORE_CTX_init(check, store, leaf, others)
        && X509_STORE_CTX_set_default(check, "ssl_server")) {
        X509_STORE_CTX_set_flags(check, X509_V_FLAG_NO_CHECK_TIME);
        distrust = X509_verify_cert(check) == 1 ? NULL : X509_verify_cert_error_string(X509_STORE_CTX_get_error(check));
    }
    X509_STORE_CTX_free(check);
    X509_STORE_free(store);
    return distrust;
}

unsigned long ctls_read_facts(const char *pem, int count, const char *host, ctls_certificate_facts *facts) {
    ERR_clear_error();
    memset(facts, 0, sizeof *facts);
    BIO *bio = BIO_new_mem_buf(pem, count);
    X509 *leaf = bio ? PEM_read_bio_X509_AUX(bio, NULL, no_password, NULL) : NULL;
    STACK_OF(X509) *others = sk_X509_new_null();
    X509 *next;
    while (leaf && others && (next = PEM_read_bio_X509(bio, NULL, no_password, NULL)))
        if (!sk_X509_push(others, next)) X509_free(next);
    unsigned long code = leaf && others ? 0 : last_error();
    if (!code) {
        facts->not_before = seconds_since_1970(X509_get0_notBefore(leaf));
        facts->not_after = seconds_since_1970(X509_get0_notAfter(leaf));
        // As browsers do it (RFC 9525): the subject's common name does not count, and * stands for a whole label.
        unsigned int strictly = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;
        facts->is_for_host = X509_check_ip_asc(leaf, host, 0) == 1 || X509_check_host(leaf, host, 0, strictly, NULL) == 1;
        read_names(leaf, facts->names, sizeof facts->names);
        facts->distrust = find_distrust(leaf, others);
    }
    sk_X509_pop_free(others, X509_free);
    X509_free(leaf);
    BIO_free(bio);
    ERR_clear_error();
    return code;
}

// MARK: - A connection

ctls_session *ctls_session_new(ctls_context *context, int descriptor) {
    ERR_clear_error();
    ctls_session *session = calloc(1, sizeof *session);
    BIO *bio = session ? BIO_new(socket_method) : NULL;
    SSL *ssl = bio ? SSL_new(context->ssl) : NULL;
    if (!ssl) {
        BIO_free(bio);
        free(session);
        ERR_clear_error();
        return NULL;
    }
    session->ssl = ssl;
    session->descriptor = descriptor;
    BIO_set_data(bio, session);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_accept_state(ssl);
    return session;
}

void ctls_session_free(ctls_session *session) {
    if (!session) return;
    SSL_free(session->ssl);
    free(session);
}

// Forgets errors of earlier calls. OpenSSL's own function writes all places of the list, even if it is empty.
static void clear_errors(void) {
    if (ERR_peek_last_error()) ERR_clear_error();
}

// Answers the reason why a call moved nothing. Its error is read before any other call, by the same thread.
static enum ctls_outcome outcome_of(ctls_session *session, int answer) {
    switch (SSL_get_error(session->ssl, answer)) {
    case SSL_ERROR_WANT_READ: return ctls_wants_read;
    case SSL_ERROR_WANT_WRITE: return ctls_wants_write;
    case SSL_ERROR_ZERO_RETURN: return ctls_ended;
    default: break;
    }
    session->has_failed = 1;
    unsigned long code = ERR_peek_error();
    ERR_clear_error();
    return ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST ? ctls_is_plain_http : ctls_failed;
}

size_t ctls_session_read(
    ctls_session *session, void *buffer, size_t count, int is_last, enum ctls_outcome *outcome) {
    size_t total = 0;
    session->is_drained = 0;
    session->is_last = is_last != 0;
    *outcome = session->has_failed ? ctls_failed : ctls_done;
    while (total < count && *outcome == ctls_done) {
        size_t taken = 0;
        clear_errors();
        int answer = SSL_read_ex(session->ssl, (char *)buffer + total, count - total, &taken);
        if (answer <= 0) {
            *outcome = outcome_of(session, answer);
        } else if (session->is_drained && !SSL_has_pending(session->ssl)) {
            // The next call would say so, having asked everybody.
            *outcome = ctls_wants_read;
        }
        total += taken;
    }
    return total;
}

size_t ctls_session_write(ctls_session *session, const void *bytes, size_t count, enum ctls_outcome *outcome) {
    size_t total = 0;
    *outcome = session->has_failed ? ctls_failed : ctls_done;
    while (total < count && *outcome == ctls_done) {
        size_t taken = 0;
        clear_errors();
        int answer = SSL_write_ex(session->ssl, (const char *)bytes + total, count - total, &taken);
        if (answer <= 0) *outcome = outcome_of(session, answer);
        total += taken;
    }
    return total;
}

void ctls_session_shutdown(ctls_session *session) {
    if (session->has_failed || session->is_shut_down || !SSL_is_init_finished(session->ssl)) return;
    session->is_shut_down = 1;
    ERR_clear_error();
    SSL_shutdown(session->ssl);
    ERR_clear_error();
}
