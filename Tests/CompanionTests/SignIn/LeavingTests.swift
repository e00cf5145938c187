import HTTPTypes
import HTTPWire
import TestSupport
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn
@testable import OpenIDConnect

/// When people cannot leave for the provider, the page that they came from says why, or an error page does. The
/// error's code decides, whatever its type, for a sign-in and for an administrator's consent alike.
@Suite struct LeavingTests {
    /// One row for each code: whether the page says it.
    private static let rows: [(code: Problem.Code, isSaidByPage: Bool)] = [
        (.interactionRequired, false), (.consentRequired, false), (.adminConsentRequired, false), (.cancelled, false),
        (.passwordResetRequested, false), (.otherAccount, false), (.providerUnavailable, true),
        (.providerRejectedClient, true), (.providerRejectedRequest, true), (.providerMetadataInvalid, true),
        (.accessDenied, false), (.apiUnavailable, false), (.throttled, true), (.sessionExpired, true),
        (.stateMismatch, false), (.issuerMismatch, false), (.nonceMismatch, false), (.invalidIDToken, false),
        (.storageUnavailable, false), (.badRequest, false), (.crossSiteRequest, false), (.notFound, false),
        (.membershipUnknown, false), (.invalidToken, false), (.insufficientScope, false), (.methodNotAllowed, false),
        (.signInLoop, true), (.serverError, true),
    ]

    @Test func `each error code has one row`() {
        #expect(Self.rows.map(\.code.rawValue).sorted() == Problem.Code.allCases.map(\.rawValue).sorted())
    }

    /// The address to which the browser is sent after an error; nil when it gets the error itself.
    private func location(after error: any Error, _ fields: HTTPFields) async throws -> String? {
        let head = try RequestHead(target: "/auth/ios/sign-in", headerFields: fields)
        let page = try #require(ReturnPath("/ios?tab=1", below: ""))
        let context = RequestContext(head)
        do {
            let answer = try await SignInEndpoints.leaving(head, context, from: page) { throw error }
            #expect(answer.status == .seeOther)
            return answer.headerFields[.location]
        } catch let problem as Problem {
            #expect(problem.code == Problem(any: error).code)
            return nil
        }
    }

    @Test(arguments: rows)
    func `the code alone decides where an error is shown`(code: Problem.Code, isSaidByPage: Bool) async throws {
        let navigation: HTTPFields = [.accept: "text/html", .secFetchMode: "navigate"]
        var errors: [any Error] = [Problem(code, "No.")]
        if let code = OpenIDError.Code(rawValue: code.rawValue) { errors.append(OpenIDError(code, "No.")) }
        for error in errors {
            let location = try await location(after: error, navigation)
            #expect(
                location?.hasPrefix("/ios?tab=1&sign_in_error=\(code.rawValue)") ?? false == isSaidByPage,
                "\(location ?? "-")")
            #expect((location == nil) == !isSaidByPage)
            #expect(
                try await self.location(after: error, [.accept: "application/json"]) == nil, "a script has its answer")
            // An automatic trip is a script's: only the navigation of a browser is sent back from a loop.
            let other = try await self.location(after: error, [.accept: "text/html"])
            #expect((other != nil) == (isSaidByPage && code != .signInLoop))
        }
    }

    /// One way to have a code at a real server and its tenant.
    struct Case: Sendable, CustomTestStringConvertible {
        let code: Problem.Code
        let path: String
        let prepare: @Sendable (Site, Visitor) async throws -> Void

        init(
            _ code: Problem.Code, _ path: String,
            _ prepare: @escaping @Sendable (Site, Visitor) async throws -> Void = { _, _ in }
        ) {
            (self.code, self.path, self.prepare) = (code, path, prepare)
        }

        var testDescription: String { "\(code.rawValue) at \(path)" }
    }

    private static let cases: [Case] = [
        Case(.providerUnavailable, "/auth/ios/sign-in") { site, _ in await site.stopTenant() },
        Case(.providerUnavailable, "/auth/ios/admin-consent") { site, _ in await site.stopTenant() },
        Case(.providerMetadataInvalid, "/auth/macos/sign-in"),
        Case(.badRequest, "/auth/ios/sign-in?prompt=other"), Case(.badRequest, "/auth/ios/admin-consent?tenant=common"),
        Case(.badRequest, "/auth/ios/sign-in?return_to=%2F%2Fevil.example"),
        Case(.badRequest, "/auth/ios/admin-consent?return_to=%2F%2Fevil.example"),
        Case(.interactionRequired, "/auth/b2c/sign-in?policy=edit_profile"),
        Case(.signInLoop, "/auth/ios/sign-in?automatic=1") { _, visitor in
            try await visitor.signIn(app: "ios")
            for _ in 0..<3 { _ = try await visitor.get("/auth/ios/sign-in?automatic=1") }
        },
    ]

    @Test(arguments: cases)
    func `a person returns to their page, or gets an error page, as the code says`(row: Case) async throws {
        try await Site.run(configured: { configuration in
            // The tenant's metadata for all tenants names no single issuer.
            let common = configuration.applications[0].authority.description
            if let authority = try? Authority(common + "/v2.0", kind: .oidc) {
                configuration.applications[1].authority = authority
            }
        }) { site in
            let visitor = Visitor(site)
            try await row.prepare(site, visitor)
            try await check(row.code, of: row.path, visitor)
        }
    }

    @Test(arguments: ["/auth/ios/sign-in", "/auth/ios/admin-consent"])
    func `a store that cannot be written leads to an error page`(path: String) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let lock = try StoreLock(site.database)
            defer { lock.close() }
            try lock.take()
            // A write of a moment ago is proof enough that the store can be written.
            #expect(await eventually { (try? await visitor.api(.get, "/readyz").status) == 503 })
            try await check(.storageUnavailable, of: path, visitor)
            try lock.release()
        }
    }

    private func check(_ code: Problem.Code, of path: String, _ visitor: Visitor) async throws {
        let isSaidByPage = try #require(Self.rows.first { $0.code == code }).isSaidByPage
        let answer = try await visitor.send(.get, path, headers: [.accept: "text/html", .secFetchMode: "navigate"])
        if isSaidByPage {
            #expect(answer.status == 303)
            let page = try #require(path.split(separator: "/").dropFirst().first)
            #expect(
                answer.location?.hasPrefix("/\(page)?sign_in_error=\(code.rawValue)") == true,
                "\(answer.location ?? "-")")
        } else {
            #expect(answer.status == Problem(code, "").status.code)
            #expect(answer.location == nil && answer.text.contains(code.rawValue), "\(answer.text)")
        }
    }
}
