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
    /// The way in which a customer signs in natively.
    public var signInMethod = SignInMethod.password
    /// The second factor that a customer needs natively; nil for none, or an e-mail if ``needsSecondFactor``.
    public var secondFactor: SecondFactorMethod?
    /// The number of the mobile phone.
    public var mobilePhone: String?
    /// Whether the platform sends no codes to the person's second factor.
    public var isContactBlocked = false
    /// The hash of the password of a person who was registered at run time, in the place of ``password``.
    var storedPassword: StoredPassword?
    /// See ``RunTimeIdentity``; nil for a person of the configuration.
    var registered: RunTimeIdentity?

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
package struct Directory: Sendable {
    private struct Table: Sendable {
        let accounts: [DemoAccount]
        let groups: [DemoGroup]
        let byName: [String: DemoAccount]
        let byHint: [String: DemoAccount]
        /// The accounts by tenant and object ID, at home and as guests.
        let byObjectID: [String: [String: DemoAccount]]
        let groupsByName: [String: DemoGroup]

        init(_ accounts: [DemoAccount], _ groups: [DemoGroup]) {
            (self.accounts, self.groups) = (accounts, groups)
            byName = Dictionary(accounts.map { ($0.username, $0) }) { first, _ in first }
            byHint = Dictionary(accounts.map { ($0.loginHint, $0) }) { first, _ in first }
            byObjectID = accounts.reduce(into: [:]) { known, account in
                known[account.tenantID, default: [:]][account.objectID] = account
                for (tenant, id) in account.guestObjectIDs { known[tenant, default: [:]][id] = account }
            }
            groupsByName = Dictionary(groups.map { ($0.name, $0) }) { first, _ in first }
        }
    }

    private let table: Live<Table>
    /// The password of people who sign up; nil if nobody may, because it would be everyone's.
    package let signUpPassword: String?
    /// Whether the built-in accounts are there, whose password everyone knows.
    package var hasDemoAccounts: Bool { signUpPassword != nil }

    /// - Parameters:
    ///   - users: The configured people. One with the name of a built-in account replaces it.
    ///   - groups: The configured groups. One with the name of a built-in group replaces it.
    ///   - hasDemoAccounts: Whether the built-in accounts, whose password everyone knows, are there too.
    package init(
        users: [DemoUser], groups: [DemoGroup] = [], hasDemoAccounts: Bool, clients: [DemoClient]
    ) throws(DemoTenantError) {
        var accounts = hasDemoAccounts ? DemoAccount.builtIn : []
        for user in users {
            let account = try DemoAccount(user, clients: clients)
            accounts.removeAll { $0.username == account.username }
            accounts.append(account)
        }
        let groups = try Self.allGroups(
            (hasDemoAccounts ? DemoGroup.builtIn : []) + groups, namedBy: accounts, clients: clients)
        table = Live(Table(accounts, groups))
        signUpPassword = hasDemoAccounts ? DemoAccount.demoPassword : nil
    }

    /// Becomes what another is, for everyone who has this one.
    func become(_ other: Directory) { table.current = other.table.current }

    package var accounts: [DemoAccount] { table.current.accounts }
    /// All groups and directory roles, in the order of the configuration.
    package var groups: [DemoGroup] { table.current.groups }

    /// Returns the account with a username, in any case.
    package func account(username: String) -> DemoAccount? { table.current.byName[username.lowercased()] }

    /// Returns the account with an object ID in a tenant.
    func account(objectID: String, in tenantID: String) -> DemoAccount? {
        table.current.byObjectID[tenantID]?[objectID]
    }

    package func group(name: String) -> DemoGroup? { table.current.groupsByName[name] }

    /// Returns the account for the value of the claim `login_hint`, which is also the `logout_hint`.
    package func account(loginHintClaim: String) -> DemoAccount? { table.current.byHint[loginHintClaim] }
}

extension DemoAccount {
    fileprivate init(_ user: DemoUser, clients: [DemoClient]) throws(DemoTenantError) {
        let username = user.username.lowercased()
        let parts = username.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[0].isEmpty, let tenant = Tenant.id(ofDomain: parts[1]) else {
            throw .user(user.username, reason: "its domain has to be one of \(Tenant.domainList)")
        }
        guard !user.password.isEmpty || user.signInMethod == .code || user.storedPassword != nil else {
            throw .user(user.username, reason: "it needs a password")
        }
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
        let id = user.registered?.objectID ?? nameBasedID("user", username)
        let objectID = kind == .personal ? "00000000-0000-0000-\(id.dropFirst(19))" : id
        self.init(
            username: username, kind: kind, objectID: objectID, givenName: names.first ?? "",
            surname: names.count > 1 ? names[1] : "", displayName: displayName, hint: "From the configuration")
        organization = tenant
        (password, isConfigured) = (user.password, true)
        (storedPassword, registered) = (user.storedPassword, user.registered)
        guard (0...DemoUser.mostManyGroups).contains(user.manyGroups) else {
            throw .user(user.username, reason: "many_groups is not within 0 and \(DemoUser.mostManyGroups)")
        }
        groups = user.groups + (0..<user.manyGroups).map { "Group \($0 + 1)" }
        let isNative = user.signInMethod != .password || user.secondFactor != nil || user.isContactBlocked
        if isNative, kind != .external {
            throw .user(user.username, reason: "only people of \(Tenant.fabrikamDomain) sign in natively")
        }
        if user.secondFactor == .sms, user.mobilePhone == nil {
            throw .user(user.username, reason: "a text message needs a mobile_phone")
        }
        (signInMethod, secondFactor) = (user.signInMethod, user.secondFactor)
        (mobilePhone, isContactBlocked) = (user.mobilePhone, user.isContactBlocked)
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
