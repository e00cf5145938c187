import Foundation
import WebFormats

/// A person of the configuration.
public struct DemoUser: Sendable, Hashable {
    /// The sign-in name. Its domain is one of the tenants' and decides the kind of account.
    public var username: String
    /// The password.
    public var password: String
    /// The display name; nil makes one from the username.
    public var displayName: String?
    /// The names of the groups that the person is a member of. A name without a group of its own is one of a security
    /// group, or of a directory role.
    public var groups: [String]
    /// The number of further groups that the person is a member of, made for tests of tokens with too many groups.
    public var manyGroups = 0
    /// The values of app roles, by the application's name. An empty list assigns the person without a role.
    public var roles: [String: [String]]
    /// The domains of the organizations where the person is a guest.
    public var guestOf: [String]
    /// Whether each sign-in asks for a second factor.
    public var needsSecondFactor: Bool

    /// The largest number of ``manyGroups``. It is more than Graph returns in one answer.
    public static let mostManyGroups = 12_000

    /// Creates a person.
    public init(
        username: String, password: String, displayName: String? = nil, groups: [String] = [],
        roles: [String: [String]] = [:], guestOf: [String] = [], needsSecondFactor: Bool = false
    ) {
        self.username = username
        self.password = password
        self.displayName = displayName
        self.groups = groups
        self.roles = roles
        self.guestOf = guestOf
        self.needsSecondFactor = needsSecondFactor
    }
}

/// The accounts of the tenants, but for those of people who sign up, and their groups.
struct Directory: Sendable {
    let accounts: [DemoAccount]
    /// All groups and directory roles, in the order of the configuration.
    let groups: [DemoGroup]
    /// The password of people who sign up; nil if nobody may, because it would be everyone's.
    let signUpPassword: String?
    private let byName: [String: DemoAccount]
    private let byHint: [String: DemoAccount]
    private let groupsByName: [String: DemoGroup]

    /// - Parameters:
    ///   - users: The configured people. One with the name of a built-in account replaces it.
    ///   - groups: The configured groups. One with the name of a built-in group replaces it.
    ///   - hasDemoAccounts: Whether the built-in accounts, whose password everyone knows, are there too.
    init(
        users: [DemoUser], groups: [DemoGroup] = [], hasDemoAccounts: Bool, clients: [DemoClient]
    ) throws(DemoTenantError) {
        var accounts = hasDemoAccounts ? DemoAccount.builtIn : []
        for user in users {
            let account = try DemoAccount(user, clients: clients)
            accounts.removeAll { $0.username == account.username }
            accounts.append(account)
        }
        self.accounts = accounts
        self.groups = try Self.allGroups(
            (hasDemoAccounts ? DemoGroup.builtIn : []) + groups, namedBy: accounts, clients: clients)
        groupsByName = Dictionary(self.groups.map { ($0.name, $0) }) { first, _ in first }
        signUpPassword = hasDemoAccounts ? DemoAccount.demoPassword : nil
        byName = Dictionary(accounts.map { ($0.username, $0) }) { first, _ in first }
        byHint = Dictionary(accounts.map { ($0.loginHint, $0) }) { first, _ in first }
    }

    /// Returns the account with a username, in any case.
    func account(username: String) -> DemoAccount? { byName[username.lowercased()] }

    func group(name: String) -> DemoGroup? { groupsByName[name] }

    /// Returns the account for the value of the claim `login_hint`, which is also the `logout_hint`.
    func account(loginHintClaim: String) -> DemoAccount? { byHint[loginHintClaim] }
}

extension DemoAccount {
    fileprivate init(_ user: DemoUser, clients: [DemoClient]) throws(DemoTenantError) {
        let username = user.username.lowercased()
        let parts = username.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, let tenant = Tenant.id(ofDomain: parts[1]) else {
            throw .user(user.username, reason: "its domain has to be one of \(Tenant.domainList)")
        }
        guard !user.password.isEmpty else { throw .user(user.username, reason: "it needs a password") }
        let kind: Kind =
            switch tenant {
            case Tenant.consumers: .personal
            case Tenant.fabrikam: .external
            case Tenant.fabrikamB2C: .b2c
            default: .work
            }
        let displayName = user.displayName ?? parts[0].split(separator: ".").map(\.capitalized).joined(separator: " ")
        let names = displayName.split(separator: " ", maxSplits: 1).map(String.init)
        // A consumer's object ID begins with zeros, and Graph's ID is the rest of it.
        let id = nameBasedID("user", username)
        let objectID = kind == .personal ? "00000000-0000-0000-\(id.dropFirst(19))" : id
        self.init(
            username: username, kind: kind, objectID: objectID, givenName: names.first ?? "",
            surname: names.count > 1 ? names[1] : "", displayName: displayName, hint: "From the configuration")
        organization = tenant
        password = user.password
        guard (0...DemoUser.mostManyGroups).contains(user.manyGroups) else {
            throw .user(user.username, reason: "many_groups is not within 0 and \(DemoUser.mostManyGroups)")
        }
        groups = user.groups + (0..<user.manyGroups).map { "Group \($0 + 1)" }
        if user.needsSecondFactor { traits.insert(.secondFactorAlways) }
        for domain in user.guestOf {
            guard let guestTenant = Tenant.id(ofDomain: domain), Tenant.organizations.contains(guestTenant) else {
                throw .user(user.username, reason: "guest_of '\(domain)' is none of \(Tenant.organizationList)")
            }
            guestObjectIDs[guestTenant] = nameBasedID("guest of \(guestTenant)", username)
        }
        do {
            roles = try Directory.assignments(user.roles, to: clients)
        } catch {
            throw .user(user.username, reason: error.reason)
        }
    }
}
