// A server's TLS on OpenSSL 3, with functions for what are macros and callbacks there. OpenSSL's own headers stay out of
// Swift: it sees these alone.
#pragma once
#include <stddef.h>

/// A certificate with its private key, and what is offered with them (SSL_CTX).
typedef struct ctls_context ctls_context;
/// One connection (SSL), on a socket.
typedef struct ctls_session ctls_session;

/// Answers which keys seal a session ticket (`sealing`), or open the one that has this name.
///
/// Answers 0 when no key has the name, 1 when the keys are there, and 2 when the ticket is to be renewed as well.
typedef int (*ctls_ticket_keys)(
    void *_Nullable keys, int sealing, unsigned char name[_Nonnull 16], unsigned char aes[_Nonnull 32],
    unsigned char hmac[_Nonnull 32]);

/// A context for HTTP/1.1 over TLS 1.2 and 1.3, or null. `keys` outlives it.
ctls_context *_Nullable ctls_context_new(ctls_ticket_keys _Nonnull answer, void *_Nullable keys);
void ctls_context_free(ctls_context *_Nullable context);

/// The certificate chain (PEM, the leaf first) and its private key (PEM, without a password).
///
/// Answers 0, or OpenSSL's code of what is wrong (`ctls_reason`): 1 at least, also where OpenSSL has none.
unsigned long ctls_context_use_chain(ctls_context *_Nonnull context, const char *_Nonnull pem, int count);
unsigned long ctls_context_use_key(ctls_context *_Nonnull context, const char *_Nonnull pem, int count);

/// The words of a certificate chain (PEM, the leaf first) for people who put it into use.
typedef struct {
    /// The time in which the leaf is valid, in seconds since 1970.
    long long not_before;
    long long not_after;
    /// Whether the leaf is for the host.
    int is_for_host;
    /// The reason why the chain leads to no authority that this machine trusts, whatever the time is; null if it does.
    const char *_Nullable distrust;
    /// The names and addresses that the leaf is for, with commas; cut where there are very many.
    char names[512];
} ctls_certificate_facts;

/// Reads what a chain says: 0, or OpenSSL's code of why it cannot be read. `host` is a name or an address without brackets.
unsigned long ctls_read_facts(
    const char *_Nonnull pem, int count, const char *_Nonnull host, ctls_certificate_facts *_Nonnull facts);

/// OpenSSL's words for a code.
const char *_Nonnull ctls_reason(unsigned long code);

/// A connection that a client has opened, or null. The descriptor is not taken over.
ctls_session *_Nullable ctls_session_new(ctls_context *_Nonnull context, int descriptor);
void ctls_session_free(ctls_session *_Nullable session);

/// The end of a call.
enum ctls_outcome {
    /// All that was asked for is done: the buffer is full, or everything is sent.
    ctls_done,
    /// The socket has nothing to read.
    ctls_wants_read,
    /// The socket has no room.
    ctls_wants_write,
    /// The client has ended its half, with close_notify or without. A read says so again.
    ctls_ended,
    /// The connection is of no use any more. Each further call says so again, without one of OpenSSL.
    ctls_failed,
    /// The same, because the client speaks plain HTTP.
    ctls_is_plain_http,
};

/// Reads until the buffer is full or the socket is empty, and shakes hands first where that is due. A short read of the
/// socket has emptied it, unless it is known (`is_last`) that the client's end follows.
///
/// Answers how many bytes it read. They count, whatever the outcome.
size_t ctls_session_read(
    ctls_session *_Nonnull session, void *_Nullable buffer, size_t count, int is_last, enum ctls_outcome *_Nonnull outcome);

/// Writes until all is sent or the socket is full. After fewer than `count` bytes the next call has to have the rest of them,
/// and may have more behind it.
///
/// Answers how many bytes it took.
size_t ctls_session_write(
    ctls_session *_Nonnull session, const void *_Nullable bytes, size_t count, enum ctls_outcome *_Nonnull outcome);

/// Sends close_notify, once, if the handshake is complete.
void ctls_session_shutdown(ctls_session *_Nonnull session);
