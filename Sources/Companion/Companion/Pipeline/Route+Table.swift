import CompanionCore

extension Route {
    /// Every address that is not a page or an asset.
    static let table: [Route] = [
        // Sign-in and sign-out
        Route(
            "/auth/{app}/sign-in", .navigation, limit: .signIns,
            .get(.application { try await $0.signIn.begin($1, $2, $3) })),
        Route("/auth/callback", .returning, .getOrPost(.call { try await $0.signIn.callback($1) })),
        Route("/auth/{app}/callback", .returning, .getOrPost(.call { try await $0.signIn.callback($1) })),
        Route(
            "/auth/{app}/admin-consent", .navigation, limit: .signIns,
            .get(.application { try await $0.signIn.beginAdminConsent($1, $2, $3) })),
        Route("/auth/{app}/sign-out", .ourPages, .post(.visit { try await $0.signOut.signOut($1) })),
        Route("/auth/front-channel-logout", .provider, .get(.call { try await $0.signOut.frontChannelLogout($1) })),
        Route("/auth/back-channel-logout", .provider, .post(.call { try await $0.signOut.backChannelLogout($1) })),

        // Accounts and tokens
        Route(
            "/api/{app}/account", .ourPages,
            .read(.visit { $0.accounts.current($1) }, unless: { $0.accounts.prepared($1) }),
            .put(.visit { try await $0.accounts.change($1) })),
        Route("/api/{app}/accounts", .ourPages, .read(.visit { $0.accounts.all($1) })),
        Route("/api/{app}/accounts/{id}", .ourPages, .delete(.visit { try await $0.accounts.remove($1) })),
        Route("/api/{app}/claims", .ourPages, .read(.signedIn { try $0.accounts.claims($2) })),
        Route("/api/{app}/admission", .ourPages, .read(.signedIn { $0.portal.admission($2) })),
        Route("/api/{app}/token", .ourPages, .post(.visit { try await $0.tokens.token($1) })),
        Route("/api/{app}/me", .ourPages, .read(.signedIn { try await $0.tokens.me($2) })),
        Route("/api/{app}/me/photo", .ourPages, .read(.signedIn { try await $0.tokens.photo($2) })),
        Route("/api/{app}/call", .ourPages, .read(.signedIn { try await $0.tokens.call($1, $2) })),
        Route("/api/{app}/events", .ourPages, .read(.visit { try await $0.story.events($1) })),
        Route("/api/{app}/sign-in-failure", .ourPages, .read(.visit { try await $0.story.failure($1) })),
        Route("/api/{app}/tokens", .ourPages, .read(.signedIn { try await $0.tokens.decoded($2) })),

        // The portal's operator part
        Route(
            "/api/{app}/health", .ourPages, limit: .operatorRequests,
            .read(.operating(.reader) { try await $0.portal.health($1, $2) })),
        Route(
            "/api/{app}/app-only", .ourPages, limit: .operatorRequests,
            .post(.operating(.operator) { try await $0.portal.appOnlyToken($1, $2) })),
        Route(
            "/api/{app}/check", .program(.check), .post(.operating(.reader) { try await $0.portal.check($1, $2) })),
        Route(
            "/api/{app}/sessions", .ourPages, orProgram: .sessionsRead, limit: .operatorRequests,
            .read(.operating(.reader) { try await $0.portal.sessions($1, $2) })),
        Route(
            "/api/{app}/sessions/{key}", .ourPages, orProgram: .sessions, limit: .operatorRequests,
            .delete(.operating(.operator) { try await $0.portal.endSession($1, $2) })),

        // The server
        Route("/api/attempts", .ourPages, .read(.session { try await $0.story.attempts($1, $2) })),
        Route("/api/language", .ourPages, .post(.call { try $0.server.chooseLanguage($1) })),
        Route(
            "/api/demo/keys", .ourPages, limit: .operatorRequests,
            .read(.call { endpoints, _ in try await endpoints.demo.keys() })),
        Route(
            "/api/demo/mission", .ourPages, limit: .operatorRequests,
            .read(.call { try await $0.demo.requests($1) }), .post(.session { try await $0.demo.mission($1, $2) })),
        Route(
            "/api/demo/native", .ourPages, limit: .operatorRequests,
            .read(.call { endpoints, _ in try endpoints.demo.flows() }), .post(.call { try await $0.demo.play($1) })),
        Route(
            "/api/apps", .ourPages,
            .read(.session { await $0.server.applications($1, $2) }, unless: { $0.server.prepared($1) })),
        Route("/api/device", .ourPages, .read(fromMemory: { $0.server.device })),
        Route("/healthz", .anyone, .read(fromMemory: { $0.server.isAlive })),
        Route(
            "/readyz", .monitoring(isRequired: false),
            .read(
                .call {
                    let head = $1.request.head
                    return $1.mayMonitor
                        ? await $0.monitoring.readinessInDetail(head) : await $0.monitoring.readiness(head)
                })),
        Route(
            "/metrics", .monitoring(isRequired: true), orProgram: .metrics,
            .read(.call { endpoints, _ in await endpoints.monitoring.metricsResponse() })),
    ]
}
