/// Where an access token came from.
package enum TokenSource: String, Sendable { case cache, refreshed }
