#include "TLSClient.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

struct tls_client {
    SSL_CTX *context;
    SSL *ssl;
    int descriptor;
    int alert;
    int records;
    SSL_SESSION *ticket;
};

static void count_records(
    int is_sent, int version, int type, const void *bytes, size_t count, SSL *ssl, void *argument) {
    (void)version, (void)ssl;
    tls_client *client = argument;
    // The inner type of TLS 1.3, or the header's of TLS 1.2.
    if (!is_sent && type == SSL3_RT_INNER_CONTENT_TYPE && count == 1
        && *(const unsigned char *)bytes == SSL3_RT_APPLICATION_DATA)
        client->records++;
}

static void note_alert(const SSL *ssl, int where, int value) {
    tls_client *client = SSL_get_app_data(ssl);
    if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT) client->alert = value & 0xff;
}

static int keep_ticket(SSL *ssl, SSL_SESSION *session) {
    tls_client *client = SSL_get_app_data(ssl);
    SSL_SESSION_free(client->ticket);
    client->ticket = session;
    return 1;
}

tls_client *tls_client_new(
    int descriptor, int version, const unsigned char *protocols, unsigned int count, tls_ticket *ticket) {
    tls_client *client = calloc(1, sizeof *client);
    client->descriptor = descriptor;
    client->context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_security_level(client->context, 0);
    SSL_CTX_set_min_proto_version(client->context, TLS1_VERSION);
    if (version) SSL_CTX_set_max_proto_version(client->context, version);
    SSL_CTX_set_session_cache_mode(client->context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(client->context, keep_ticket);
    SSL_CTX_set_mode(client->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (protocols) SSL_CTX_set_alpn_protos(client->context, protocols, count);
    client->ssl = SSL_new(client->context);
    SSL_set_app_data(client->ssl, client);
    SSL_set_msg_callback(client->ssl, count_records);
    SSL_set_msg_callback_arg(client->ssl, client);
    SSL_set_info_callback(client->ssl, note_alert);
    SSL_set_tlsext_host_name(client->ssl, "localhost");
    if (ticket) SSL_set_session(client->ssl, (SSL_SESSION *)ticket);
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
    SSL_set_fd(client->ssl, descriptor);
    return client;
}

void tls_client_free(tls_client *client) {
    // Otherwise OpenSSL takes the session for a bad one.
    SSL_set_quiet_shutdown(client->ssl, 1);
    SSL_shutdown(client->ssl);
    SSL_SESSION_free(client->ticket);
    SSL_free(client->ssl);
    SSL_CTX_free(client->context);
    free(client);
}

// 1 to call again, or an end.
static int wait_for(tls_client *client, int answer, int timeout) {
    int saved = errno;
    struct pollfd request = {.fd = client->descriptor};
    switch (SSL_get_error(client->ssl, answer)) {
    case SSL_ERROR_WANT_READ: request.events = POLLIN; break;
    case SSL_ERROR_WANT_WRITE: request.events = POLLOUT; break;
    case SSL_ERROR_ZERO_RETURN: return tls_end_notified;
    case SSL_ERROR_SYSCALL: return saved == ECONNRESET || saved == EPIPE ? tls_end_reset : tls_end_without_notice;
    default:
        return ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING ? tls_end_without_notice : tls_end_failed;
    }
    return poll(&request, 1, timeout) > 0 ? 1 : tls_end_timeout;
}

#define REPEAT(call)                                              \
    while (1) {                                                   \
        ERR_clear_error();                                        \
        errno = 0;                                                \
        int answer = (call);                                      \
        if (answer > 0) return answer;                            \
        int end = wait_for(client, answer, timeout);              \
        if (end != 1) return end;                                 \
    }

void tls_client_refuse_tickets(tls_client *client) { SSL_set_options(client->ssl, SSL_OP_NO_TICKET); }

int tls_client_connect(tls_client *client, int timeout) { REPEAT(SSL_connect(client->ssl)) }

long tls_client_read(tls_client *client, void *buffer, size_t count, int timeout) {
    REPEAT(SSL_read(client->ssl, buffer, (int)count))
}

long tls_client_write(tls_client *client, const void *bytes, size_t count, int timeout) {
    REPEAT(SSL_write(client->ssl, bytes, (int)count))
}

static int peek(tls_client *client, int timeout) {
    char byte;
    REPEAT(SSL_peek(client->ssl, &byte, 1))
}

int tls_client_has_input(tls_client *client, int timeout) { return peek(client, timeout) != tls_end_timeout; }

void tls_client_shutdown(tls_client *client) { SSL_shutdown(client->ssl); }

int tls_client_renegotiate(tls_client *client, int timeout) {
    if (!SSL_renegotiate(client->ssl)) return tls_end_failed;
    REPEAT(SSL_do_handshake(client->ssl))
}

int tls_client_update_key(tls_client *client) { return SSL_key_update(client->ssl, SSL_KEY_UPDATE_REQUESTED); }

int tls_client_version(const tls_client *client) { return SSL_version(client->ssl); }
int tls_client_is_resumed(const tls_client *client) { return SSL_session_reused(client->ssl); }
int tls_client_alert(const tls_client *client) { return client->alert; }
int tls_client_records(const tls_client *client) { return client->records; }

unsigned int tls_client_protocol(const tls_client *client, const unsigned char **start) {
    unsigned int count;
    SSL_get0_alpn_selected(client->ssl, start, &count);
    return count;
}

long tls_client_serial(const tls_client *client) {
    X509 *certificate = SSL_get0_peer_certificate(client->ssl);
    return certificate ? ASN1_INTEGER_get(X509_get0_serialNumber(certificate)) : -1;
}

tls_ticket *tls_client_ticket(tls_client *client) {
    if (client->ticket) SSL_SESSION_up_ref(client->ticket);
    return (tls_ticket *)client->ticket;
}

void tls_ticket_free(tls_ticket *ticket) { SSL_SESSION_free((SSL_SESSION *)ticket); }

unsigned int tls_ticket_early_data(const tls_ticket *ticket) {
    return SSL_SESSION_get_max_early_data((const SSL_SESSION *)ticket);
}
