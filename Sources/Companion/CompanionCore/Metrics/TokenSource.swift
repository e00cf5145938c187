/// The source of an access token.
package enum TokenSource: String, Sendable { case cache, refreshed }
