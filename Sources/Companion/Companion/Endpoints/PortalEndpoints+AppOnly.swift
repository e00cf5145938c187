import CompanionCheck
import CompanionCore
import CompanionSignIn
import Foundation
import HTTPClient
import HTTPTypes
import HTTPWire
import OpenIDConnect
import WebFormats

/// Applications' own tokens, for a portal's operators.
extension PortalEndpoints {
    private struct AppOnlyBody: Decodable {
        var application: String
        var call: String?
    }

    /// The calls that an operator may send with such a token.
    private enum AppOnlyCall: String, CaseIterable {
        case application
        case servicePrincipal = "service_principal"
        case organization

        func path(clientID: String) -> String {
            switch self {
            case .application: "/applications(appId=%27\(clientID)%27)?$select=\(RegisteredApplication.select)"
            case .servicePrincipal: "/servicePrincipals(appId=%27\(clientID)%27)"
            case .organization: "/organization?$select=id,displayName"
            }
        }
    }

    /// The largest answer that is passed on, in bytes.
    private static let maxAppOnlyBytes = 64 * 1024

    /// Returns what an application's own token says, and the answer to one call with it. The token itself stays here.
    func appOnlyToken(_ call: Call, _ asking: PortalOperator) async throws -> Response {
        guard configuration.deviceMode == .private, configuration.tokenDisplay != .hidden else {
            throw Problem(.accessDenied, "This server is configured not to show tokens.")
        }
        let body: AppOnlyBody = try call.body()
        guard let application = configuration.applications.first(where: { $0.id == body.application }) else {
            throw Problem(.notFound, "No application is called “\(body.application.prefix(64))”.")
        }
        let token = try await appOnly.token(of: application)
        let decoded = DecodedToken(token.secret)
        var answer: [String: JSONValue] = [
            "application": .string(application.id), "title": .string(application.title),
            "authority": .orNull(application.appOnlyAuthority?.description),
            "header": (decoded?.header).map(JSONValue.object) ?? .null,
            "payload": (decoded?.payload(isFull: false)).map(JSONValue.object) ?? .null,
            "roles": .list(decoded?.payload(isFull: true)["roles"]?.array?.compactMap(\.string) ?? []),
            "expires_on": .integer(Int(token.expiresOn.timeIntervalSince1970)),
            "calls": .list(AppOnlyCall.allCases.map(\.rawValue)),
        ]
        if let name = body.call {
            guard let chosen = AppOnlyCall(rawValue: name), let me = application.graph else {
                throw Problem(.badRequest, "“call” must be application, service_principal or organization.")
            }
            answer["answer"] = try await self.answer(
                to: chosen.path(clientID: application.registration.clientID), at: me, with: token)
        }
        if case .person(let asking) = asking {
            await audit.write(
                .appOnlyTokenUsed, application: asking.application.id, account: store.pseudonym(of: asking.account),
                session: asking.session.key, more: ["of": application.id, "call": body.call ?? "none"])
        }
        return .json(.object(answer))
    }

    private func answer(to path: String, at me: Endpoint, with token: AppOnlyToken) async throws -> JSONValue {
        let root = me.path.hasSuffix("/") ? String(me.path.dropLast()) : me.path
        var request = HTTPRequest(
            method: .get, scheme: me.scheme, authority: me.authority, path: String(root.dropLast("/me".count)) + path)
        request.headerFields[.accept] = "application/json"
        request.headerFields[.authorization] = "Bearer \(token.secret)"
        let start = ContinuousClock.now
        let answer = try await client.send(request, maxResponseBytes: Self.maxAppOnlyBytes)
        return .members([
            "status": .integer(answer.status.code), "request_id": .text(answer[.requestID]),
            "ms": .integer(Int(start.duration(to: .now) / .milliseconds(1))), "body": JSONValue(parsing: answer.body),
        ])
    }
}
