import CompanionCheck
import CompanionCore
import CompanionPages
import CompanionSignIn
import Foundation
import HTTPClient
import HTTPServer
import HTTPTypes
import HTTPWire
import Languages
import OpenIDConnect
import SessionStore
import WebFormats

/// The operator's part of a portal: the applications' health, and other people's sessions.
struct PortalEndpoints: Sendable {
    let configuration: CompanionConfiguration
    let store: SessionStore
    let memory: SessionMemory
    let rounds: CheckRounds
    let registrations: RegistrationHealth
    let recent: RecentSignIns
    let languages: Languages
    let audit: AuditLog
    let access: PortalAccess
    let appOnly: AppOnlyTokens
    let client: HTTPClient

    /// Explains why the account may sign in to the application, where its groups and app roles came from, and which
    /// role it has at the portal.
    func admission(_ asking: SignedIn) -> Response {
        let (application, account) = (asking.application, asking.account)
        let membership = account.membership
        let match = application.allowed.isEmpty ? nil : account.match(application.allowed)
        let rule: (kind: String, value: String?) =
            switch match {
            case .user: ("user", nil)
            case .role(let role): ("role", role)
            case .group(let group): ("group", group)
            case .unknown: ("unknown", nil)
            // An account that no entry names is signed out before it gets here.
            case nil, .no:
                (application.registration.allowedTenants.isEmpty ? "authority" : "tenant", account.identity.tenantID)
            }
        return .json([
            "rule": .members(["kind": .string(rule.kind), "value": .text(rule.value)]),
            "groups": .members([
                "source": .orNull(membership.source?.rawValue),
                "named": .list(membership.groups.intersection(application.namedGroups).sorted()),
                "count": membership.source == .token ? .integer(membership.groups.count) : nil,
            ]),
            "roles": .list(membership.roles.sorted()),
            "portal_role": .orNull(access.role(of: asking)?.rawValue),
        ])
    }

    /// Checks now everything that a sign-in needs: for each application, or for those that the query names, so that a
    /// page can show its progress. The answer has the changes since the last round of each. With `known=true` it has what
    /// the last rounds have found, and nobody is asked.
    func health(_ call: Call, _ asking: PortalOperator) async throws -> Response {
        let language = languages.language(of: call.request.head)
        let names = call.field("applications").map { $0.split(separator: ",").map(String.init) }
        let chosen = configuration.applications.filter { names?.contains($0.id) ?? true }
        guard chosen.count == names?.count ?? chosen.count else { throw Self.unknownApplications }
        let last = await rounds.lastRound(of: chosen)
        let round = call.field("known") == "true" ? last : await rounds.run(chosen)
        return .json([
            "checked_at": .orNull((round?.at).map(Timeline.text)),
            "last_checked_at": .orNull((last?.at).map(Timeline.text)),
            "apps": .array((round?.reports ?? []).map { entry($0, in: language) }),
            "changes": .array(
                (round?.changes ?? []).map { change in
                    [
                        "change": .string(change.kind.rawValue), "app": .orNull(change.finding.application),
                        "check": .string(change.finding.subject), "detail": .string(change.finding.what(in: language)),
                    ]
                }),
        ])
    }

    private func entry(_ report: AuthorityCheck.Report, in language: Language) -> JSONValue {
        let application = report.application
        let members: [String: JSONValue] = [
            "id": .string(application.id),
            "title": .string(application.title(in: language)), "kind": .string(application.kind.rawValue),
            "authority": .string(report.authority), "ok": report.isHealthy.map(JSONValue.bool) ?? .null,
            "state": .string(report.state.rawValue),
            "checks": .array(
                report.findings.map {
                    [
                        "check": .string($0.subject), "ok": $0.isGood.map(JSONValue.bool) ?? .null,
                        "severity": .string($0.severity.rawValue), "detail": .string($0.what(in: language)),
                        "expires": .orNull($0.expires?.formatted(.iso8601)),
                    ]
                }),
        ]
        return .object(members.merging(registrations.credential(of: application, report.findings)) { $1 })
    }

    private static var unknownApplications: Problem {
        Problem(.badRequest, "“applications” must be names of configured applications, each once.")
    }

    private struct CheckBody: Decodable {
        var applications: [String]?
    }

    /// Checks applications for a program: all, or those that it names. The answer has the report of `companion check`
    /// about them, and the changes since their last round.
    func check(_ call: Call, _ asking: PortalOperator) async throws -> Response {
        let body: CheckBody = try call.body()
        let chosen = configuration.applications.filter { body.applications?.contains($0.id) ?? true }
        guard chosen.count == body.applications?.count ?? chosen.count else { throw Self.unknownApplications }
        let round = await rounds.run(chosen)
        let report = CheckReport(round.reports.flatMap(\.findings))
        return .json([
            "ok": .bool(report.ok), "counts": .object(report.counts.mapValues { .integer($0) }),
            "checked_at": .string(Timeline.text(round.at)),
            "findings": .array(report.findings.map(\.json)),
            "changes": .array(
                round.changes.map { ["change": .string($0.kind.rawValue), "finding": $0.finding.json] }),
        ])
    }

    private static let sessionsPerPage = 50

    func sessions(_ call: Call, _ asking: PortalOperator) async throws -> Response {
        let after = call.field("after")
        guard after == nil || after.flatMap(SessionKey.init) != nil else {
            throw Problem(.badRequest, "“after” must be the key of a session.")
        }
        let (own, mayEnd): (SessionKey?, Bool) =
            switch asking {
            case .person(let asking): (asking.session.key, access.role(of: asking) == .operator)
            case .program(let token): (nil, token.isFor(.sessions))
            }
        let page = try await store.list(after: after.flatMap(SessionKey.init), limit: Self.sessionsPerPage)
        return .json([
            "sessions": .array(
                page.map { session in
                    [
                        "key": .string(session.key.description), "created": .string(Timeline.text(session.createdAt)),
                        "last_seen": .string(Timeline.text(session.lastSeenAt)),
                        "accounts": .array(
                            session.accounts.map { ["app": .string($0.app), "username": .string($0.username)] }),
                        "current": .bool(session.key == own),
                    ]
                }),
            "may_end": .bool(mayEnd),
            "next": .orNull(page.count == Self.sessionsPerPage ? page.last?.key.description : nil),
        ])
    }

    /// Ends all sessions of a person.
    func endSession(_ call: Call, _ asking: PortalOperator) async throws -> Response {
        let key = call.id.flatMap(SessionKey.init)
        var more: [String: String] = [:]
        switch asking {
        case .person(let asking):
            // The caller's own session ends only with a sign-out.
            if key != asking.session.key {
                more["auth_time"] = try requireRecentSignIn(asking).rawValue
            }
        case .program(let token): more["by"] = "token \(token.name)"
        }
        guard let key, try await store.revoke(key) else {
            throw Problem(.notFound, "This session no longer exists.")
        }
        await memory.forget(key)
        more["ended_session"] = key.description
        var (account, session): (Pseudonym?, SessionKey?) = (nil, nil)
        if case .person(let asking) = asking {
            (account, session) = (store.pseudonym(of: asking.account), asking.session.key)
        }
        await audit.write(
            .sessionEndedByOperator, application: call.application?.id, account: account, session: session, more: more)
        return .noStore(.noContent)
    }

    /// Requires a recent sign-in, so that a browser left open cannot be used to sign others out.
    private func requireRecentSignIn(_ asking: SignedIn) throws(Problem) -> RecentSignIn {
        if let evidence = recent.evidence(of: asking.account, in: asking.session.key) { return evidence }
        let url = configuration.publicURL
        throw Problem(
            .interactionRequired,
            "To end someone else's session, you must have signed in within the last five minutes. Sign in again.",
            action: .signIn(
                url.signInPath(
                    of: asking.application,
                    [
                        ("prompt", Prompt.login.rawValue), ("max_age", String(RecentSignIn.maxAge)),
                        ("return_to", url.pagePath(of: asking.application)),
                    ])))
    }
}
