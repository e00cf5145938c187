import CompanionCore
import HTTPServer
import HTTPWire

/// Serves the listener of `tls.redirect_listen`: everything is at the public URL, by https.
struct RedirectResponder: Responder {
    let publicURL: PublicURL

    func reply(to head: RequestHead, from peer: PeerAddress, mark: inout RequestMark) -> Reply {
        guard head.path.hasPrefix("/") else {
            return .response(Response(status: .notFound, headerFields: [:], body: []))
        }
        return .response(.redirect(to: publicURL.address(of: head), status: .permanentRedirect))
    }
}

extension PublicURL {
    /// Returns a request's address under the public URL's name.
    func address(of head: RequestHead) -> String {
        address + ownPath(head.path) + (head.query.map { "?" + $0 } ?? "")
    }
}

extension ServerConfiguration {
    /// Configures the listener of `tls.redirect_listen`, with the same limit on the connections of one address.
    init(redirecting address: ListenAddress, _ limit: AddressLimit?) {
        self.init(host: address.host, port: address.port, responseFields: [.xContentTypeOptions: "nosniff"])
        limits.maxConnections = 1000
        addressLimit = limit
    }
}
