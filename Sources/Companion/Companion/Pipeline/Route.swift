import CompanionCore
import CompanionSignIn
import HTTPServer
import HTTPTypes
import HTTPWire
import SessionStore

/// One address that is not a page or an asset, with its permitted callers, its limit and its handlers. ``table``
/// lists them all.
struct Route: Sendable {
    /// The permitted callers, by what the request must prove (security law 4).
    enum Caller: Sendable {
        /// Anyone, from anywhere: the response contains nothing personal.
        case anyone
        /// A browser that starts a sign-in, in a window of its own and under the public URL's name.
        case navigation
        /// A browser that returns from the identity provider, in a window of its own. Its state parameter proves
        /// which sign-in it belongs to.
        case returning
        /// Our own pages' scripts, and no other site.
        case ourPages
        /// A program with a token of this scope, and no browser.
        case program(APIToken.Scope)
        /// The identity provider: the request proves its sender, or contains values that only the provider knows.
        case provider
        /// Monitoring on this machine. If that is not required, anyone may ask, and gets a shorter response.
        case monitoring(isRequired: Bool)
    }

    /// A handler, by what it needs to know about the caller.
    enum Handler: Sendable {
        /// The request alone.
        case call(@Sendable (Endpoints, Call) async throws -> Response)
        /// The session of the request, if there is one.
        case session(@Sendable (Endpoints, Call, Session?) async throws -> Response)
        /// The application, and the session as far as it can be looked up.
        case application(@Sendable (Endpoints, Call, Application, LookedUpSession) async throws -> Response)
        /// The application and the session, with or without a signed-in account.
        case visit(@Sendable (Endpoints, Visit) async throws -> Response)
        /// A signed-in account: the one that the query names, or the current one.
        case signedIn(@Sendable (Endpoints, Call, SignedIn) async throws -> Response)
        /// A signed-in account that has this role at the portal, or a higher one; or a program.
        case operating(PortalRole, @Sendable (Endpoints, Call, PortalOperator) async throws -> Response)
    }

    /// Returns a response from memory; nil if memory does not have it.
    typealias Prepared = @Sendable (Endpoints, Call) -> PreparedResponse?

    /// The source of a response.
    enum Source: Sendable {
        /// Always memory.
        case memory(@Sendable (Endpoints) -> PreparedResponse)
        /// A handler, unless memory already has the response.
        case handler(Handler, unless: Prepared?)
    }

    /// Methods with their source.
    struct Action: Sendable {
        let methods: [HTTPRequest.Method]
        let source: Source

        private init(methods: [HTTPRequest.Method], handler: Handler, unless prepared: Prepared? = nil) {
            self.methods = methods
            source = .handler(handler, unless: prepared)
        }

        private init(methods: [HTTPRequest.Method], source: Source) {
            self.methods = methods
            self.source = source
        }

        /// GET and HEAD, for a GET without side effects.
        static func read(_ handler: Handler, unless prepared: Prepared? = nil) -> Action {
            Action(methods: [.get, .head], handler: handler, unless: prepared)
        }
        /// GET and HEAD, with a response that is always in memory.
        static func read(fromMemory prepared: @escaping @Sendable (Endpoints) -> PreparedResponse) -> Action {
            Action(methods: [.get, .head], source: .memory(prepared))
        }
        /// GET alone, because a link checker's HEAD must not consume a sign-in.
        static func get(_ handler: Handler) -> Action { Action(methods: [.get], handler: handler) }
        static func getOrPost(_ handler: Handler) -> Action { Action(methods: [.get, .post], handler: handler) }
        static func post(_ handler: Handler) -> Action { Action(methods: [.post], handler: handler) }
        static func put(_ handler: Handler) -> Action { Action(methods: [.put], handler: handler) }
        static func delete(_ handler: Handler) -> Action { Action(methods: [.delete], handler: handler) }
    }

    /// The path with `{app}` and `{id}` as placeholders, as it appears in metrics and log lines, which never contain
    /// a path from a request.
    let pattern: String
    let caller: Caller
    /// The scope of the tokens with which programs may call it too; a request with `Authorization` is a program's.
    private let alternative: APIToken.Scope?
    /// The limit on the request rate; nil if there is none. Everything that writes, or contacts a provider on behalf
    /// of a client that may be unknown, needs one. Provider responses are counted by their handler, which can first
    /// check whether they belong to a sign-in.
    let limit: Limit?
    let actions: [Action]

    init(
        _ pattern: String, _ caller: Caller, orProgram alternative: APIToken.Scope? = nil, limit: Limit? = nil,
        _ actions: Action...
    ) {
        self.pattern = pattern
        self.caller = caller
        self.alternative = alternative
        self.limit = limit
        self.actions = actions
    }

    /// The scope of a program's token for this address; nil if programs may not call it.
    var programScope: APIToken.Scope? {
        if case .program(let scope) = caller { scope } else { alternative }
    }

    /// Returns the scope that a request needs; nil if it is not a program's.
    func programScope(of head: RequestHead) -> APIToken.Scope? {
        if case .program(let scope) = caller { return scope }
        return head[.authorization] == nil ? nil : alternative
    }

    /// The supported methods, in the form of an `Allow` field.
    var allow: String { actions.flatMap(\.methods).map(\.rawValue).joined(separator: ", ") }

    /// Returns the source of the response for a method; nil if the method is not supported.
    func source(for method: HTTPRequest.Method) -> Source? {
        actions.first { $0.methods.contains(method) }?.source
    }
}
