// A TLS client for tests, on OpenSSL: it does what a browser would not do.
#pragma once
#include <stddef.h>

typedef struct tls_client tls_client;
/// What a server gave for a later connection (SSL_SESSION).
typedef struct tls_ticket tls_ticket;

/// How a call ended that moved no bytes.
enum tls_end {
    tls_end_notified = 0,
    tls_end_without_notice = -1,
    tls_end_reset = -2,
    tls_end_timeout = -3,
    tls_end_failed = -4,
};

/// - descriptor: a connected socket, which stays the caller's and no longer blocks.
/// - version: the highest one, such as 0x0303, or 0.
/// - protocols: what ALPN offers, in its wire format, or null.
tls_client *_Nullable tls_client_new(
    int descriptor, int version, const unsigned char *_Nullable protocols, unsigned int count, tls_ticket *_Nullable ticket);
void tls_client_free(tls_client *_Nonnull client);

/// Offers no tickets (RFC 5077).
void tls_client_refuse_tickets(tls_client *_Nonnull client);
/// Shakes hands. 1, or an end.
int tls_client_connect(tls_client *_Nonnull client, int timeout);
/// How many bytes were read, or an end.
long tls_client_read(tls_client *_Nonnull client, void *_Nonnull buffer, size_t count, int timeout);
/// How many bytes were written, or an end.
long tls_client_write(tls_client *_Nonnull client, const void *_Nonnull bytes, size_t count, int timeout);
/// Whether a byte or the end can be read.
int tls_client_has_input(tls_client *_Nonnull client, int timeout);
/// Sends close_notify.
void tls_client_shutdown(tls_client *_Nonnull client);
/// Asks for another handshake within the connection (TLS 1.2). 1, or an end.
int tls_client_renegotiate(tls_client *_Nonnull client, int timeout);
/// Asks the server to change its key (TLS 1.3).
int tls_client_update_key(tls_client *_Nonnull client);

/// 0x0303 is TLS 1.2.
int tls_client_version(const tls_client *_Nonnull client);
int tls_client_is_resumed(const tls_client *_Nonnull client);
/// The alert that the server sent last, or 0.
int tls_client_alert(const tls_client *_Nonnull client);
/// How many records with content came.
int tls_client_records(const tls_client *_Nonnull client);
/// The protocol that ALPN has chosen: its length, and its start.
unsigned int tls_client_protocol(const tls_client *_Nonnull client, const unsigned char *_Nullable *_Nonnull start);
/// The serial number of the server's certificate.
long tls_client_serial(const tls_client *_Nonnull client);
/// The newest ticket, or null; to be freed by the caller.
tls_ticket *_Nullable tls_client_ticket(tls_client *_Nonnull client);
void tls_ticket_free(tls_ticket *_Nullable ticket);
/// How many bytes a client may send with it before the handshake is complete.
unsigned int tls_ticket_early_data(const tls_ticket *_Nonnull ticket);
