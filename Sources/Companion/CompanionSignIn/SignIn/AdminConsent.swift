package import CompanionCore
package import OpenIDConnect
package import SessionStore

/// Lets an administrator consent to an application's permissions for a whole tenant. This is a sign-in without tokens:
/// the attempt is of the same kind, and ends with the callback.
package struct AdminConsent: Sendable {
    package let publicURL: PublicURL
    package let store: SessionStore
    package let providers: Providers
    package let admission: Admission
    package let journal: SignInJournal

    /// Sends the browser to the consent page, with the attempt in a cookie.
    ///
    /// - Parameter tenant: the tenant's ID or domain; nil stands for the administrator's own tenant.
    /// - Throws: ``Problem`` `bad_request` for a tenant that the configuration does not admit; ``StoreError``.
    package func begin(
        _ application: Application, tenant: String?, returnPath: ReturnPath, _ browser: Browser
    ) async throws -> SignInFlow.Departure {
        if let tenant {
            try await admission.check(
                try application.authority(ofTenant: tenant), application, requester: browser.requester)
        }
        let request: AdminConsentRequest
        do throws(AuthorityError) {
            request = try AdminConsentRequest(authority: application.authority, tenant: tenant)
        } catch {
            throw Problem(.badRequest, "“tenant” cannot be used: \(error.reason)")
        }
        try await providers.client.requireAnswer(of: application.authority)
        let beginning = journal.begin(application, .adminConsent)
        let settings = AttemptSettings(
            prompt: SignInKind.adminConsent.rawValue, scopes: application.registration.scopes, tenant: tenant)
        let purpose = AttemptPurpose(
            beginning.kind, at: application.authority, redirectURI: application.registration.redirectURI,
            mark: beginning.mark, settings: settings)
        let secrets = AuthorizationAttempt(state: store.newState(), randomBytes: providers.randomBytes)
        let departure = try await SignInFlow.Departure(
            NewSignInAttempt(application, secrets, purpose, returnPath: returnPath, scopes: settings.scopes),
            to: request.url(registration: application.registration, attempt: secrets), of: browser, store)
        await journal.left(
            beginning, in: browser.origin?.key, for: application.authority, settings, location: nil)
        return departure
    }

    /// Completes an attempt with the administrator's response.
    ///
    /// - Throws: ``OpenIDError`` if the administrator declined; ``StoreError``.
    package func complete(
        _ attempt: SignInAttempt, _ callback: Callback, _ secrets: AuthorizationAttempt, _ journey: SignInJournal.Return
    ) async throws -> SignInFlow.Outcome {
        _ = try callback.adminConsentTenant(against: secrets)
        let sessionID = try await store.completeAttempt(attempt)
        await journal.succeeded(journey, nil, .adminConsented)
        return .signedIn(returnPath: attempt.returnPath(with: "admin_consent=granted"), sessionID: sessionID)
    }

    /// Returns a URL for an administrator, who may use another machine; nil if the platform has no such page.
    func invitation(to application: Application) -> Problem.Action? {
        guard application.kind == .workforce else { return nil }
        return Problem.Action(kind: "admin_consent", url: "\(publicURL.address)/auth/\(application.id)/admin-consent")
    }
}
