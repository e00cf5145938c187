import CompanionCore
import CompanionSignIn
import HTTPServer
import HTTPTypes
import HTTPWire
import SessionStore

/// One address that is not a page or an asset: who may ask for it, how often, and what answers. ``table`` has them all.
struct Route: Sendable {
    /// Who may ask, by what the request has to prove (security law 4).
    enum Caller: Sendable {
        /// Anyone, from anywhere: the answer says nothing about anybody.
        case anyone
        /// A browser on its way into a sign-in: in a window of its own, under the public URL's name.
        case navigation
        /// A browser that comes back from the identity provider, in a window of its own: its answer proves by its state whose it
        /// is.
        case returning
        /// Our own pages' scripts, and no other site.
        case ourPages
        /// The identity provider: the request proves by itself who sent it, or names what only the provider knows.
        case provider
        /// This machine's own monitoring. Where that is not required, anyone may ask, and gets a shorter answer.
        case monitoring(isRequired: Bool)
    }

    /// What answers, by what it has to know of the caller.
    enum Handler: Sendable {
        /// The request alone.
        case call(@Sendable (Endpoints, Call) async throws -> Response)
        /// The session that the request came with, if there is one.
        case session(@Sendable (Endpoints, Call, Session?) async throws -> Response)
        /// The application, and the session as far as it can be known.
        case application(@Sendable (Endpoints, Call, Application, LookedUpSession) async throws -> Response)
        /// The application and the session, whether somebody is signed in or not.
        case visit(@Sendable (Endpoints, Visit) async throws -> Response)
        /// An account that is signed in: the one that the query names, else the current one.
        case signedIn(@Sendable (Endpoints, Call, SignedIn) async throws -> Response)
    }

    /// What memory alone knows to answer; nil when it cannot.
    typealias Prepared = @Sendable (Endpoints, Call) -> PreparedResponse?

    /// Where an answer comes from.
    enum Source: Sendable {
        /// Memory alone has it.
        case memory(@Sendable (Endpoints) -> PreparedResponse)
        /// A handler makes it, unless memory has it already.
        case handler(Handler, unless: Prepared?)
    }

    /// Methods and what answers them.
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

        /// HEAD comes with GET, where GET has no effect.
        static func read(_ handler: Handler, unless prepared: Prepared? = nil) -> Action {
            Action(methods: [.get, .head], handler: handler, unless: prepared)
        }
        /// The same for what is always in memory.
        static func read(fromMemory prepared: @escaping @Sendable (Endpoints) -> PreparedResponse) -> Action {
            Action(methods: [.get, .head], source: .memory(prepared))
        }
        /// GET alone: a link checker's HEAD must not consume a sign-in.
        static func get(_ handler: Handler) -> Action { Action(methods: [.get], handler: handler) }
        static func getOrPost(_ handler: Handler) -> Action { Action(methods: [.get, .post], handler: handler) }
        static func post(_ handler: Handler) -> Action { Action(methods: [.post], handler: handler) }
        static func put(_ handler: Handler) -> Action { Action(methods: [.put], handler: handler) }
        static func delete(_ handler: Handler) -> Action { Action(methods: [.delete], handler: handler) }
    }

    /// With `{app}` and `{id}` for what varies, as metrics and log lines have it: never a path that somebody sent.
    let pattern: String
    let caller: Caller
    /// What bounds how often it is asked for: everything that writes or asks a provider for somebody who may be unknown.
    /// Answers of providers are counted by what takes them, which knows whether they may be any.
    let limit: Limit?
    let actions: [Action]

    init(_ pattern: String, _ caller: Caller, limit: Limit? = nil, _ actions: Action...) {
        self.pattern = pattern
        self.caller = caller
        self.limit = limit
        self.actions = actions
    }

    /// The methods that it takes, as an `Allow` field says them.
    var allow: String { actions.flatMap(\.methods).map(\.rawValue).joined(separator: ", ") }

    /// What answers a method.
    func source(for method: HTTPRequest.Method) -> Source? {
        actions.first { $0.methods.contains(method) }?.source
    }
}
