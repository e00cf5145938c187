package import Foundation
package import Logging
import Synchronization
package import WebFormats

/// Registers applications and people while the tenant runs, and removes them. Each change is checked as a whole new
/// configuration, of which requests see all or nothing.
package final class RunTimeRegistry: Sendable {
    /// The largest number of applications that are registered at run time.
    package static let mostApplications = 200
    /// The largest number of people who are registered at run time.
    package static let mostPeople = 500
    /// The largest number of secrets of one application.
    package static let mostSecrets = 20

    /// The reason why nothing is changed.
    package enum Refusal: Error, Sendable, Hashable {
        /// The declaration cannot be used, for these reasons.
        case mistakes([String])
        case unknown(String)
        /// The application or the person was there from the start.
        case fixed(String)
        /// There is one of this name.
        case taken(String)
        /// There are too many, as a sentence.
        case full(String)
    }

    /// Who was there from the start.
    package struct Configured: Sendable {
        let clients: [DemoClient]
        let users: [DemoUser]
        let groups: [DemoGroup]
        let hasDemoAccounts: Bool
        let reader: DeclarationReader

        package init(
            clients: [DemoClient], users: [DemoUser], groups: [DemoGroup], hasDemoAccounts: Bool,
            reader: DeclarationReader
        ) {
            (self.clients, self.users, self.groups) = (clients, users, groups)
            (self.hasDemoAccounts, self.reader) = (hasDemoAccounts, reader)
        }
    }

    package typealias Declaration = [String: JSONValue]
    /// Returns what becomes of a declaration.
    package typealias Edit = (Declaration) throws(Refusal) -> Declaration

    private struct Application: Sendable {
        var declaration: Declaration
        var identity: RunTimeIdentity
        var client: DemoClient
    }

    private struct Person: Sendable {
        var declaration: Declaration
        var identity: RunTimeIdentity
        var user: DemoUser
    }

    private struct Content: Sendable {
        var applications: [Application] = []
        var people: [Person] = []

        var record: RunTimeRecord {
            RunTimeRecord(
                applications: applications.map {
                    .init(
                        identity: $0.identity, declaration: JSONValue.object($0.declaration).text,
                        secrets: $0.client.secrets)
                },
                people: people.map {
                    .init(
                        identity: $0.identity, declaration: JSONValue.object($0.declaration).text,
                        password: $0.user.storedPassword)
                })
        }
    }

    private let configured: Configured
    private let registrations: Registrations
    private let scopes: Scopes
    private let directory: Directory
    private let state: TenantState
    private let clock: TenantClock
    private let content = Mutex(Content())

    /// Registers what the state has. What the configuration no longer allows is left out, which is logged.
    package init(
        _ configured: Configured, registrations: Registrations, scopes: Scopes, directory: Directory,
        state: TenantState, clock: TenantClock, logger: Logger
    ) {
        (self.configured, self.registrations, self.scopes) = (configured, registrations, scopes)
        (self.directory, self.state, self.clock) = (directory, state, clock)
        let record = state.read { $0.runTime } ?? RunTimeRecord()
        content.withLock { content in
            func keep(_ name: String, _ add: (inout Content) throws(Refusal) -> Void) {
                var next = content
                do throws(Refusal) {
                    try add(&next)
                    try take(next)
                    content = next
                } catch {
                    logger.warning("Something of the demo tenant's state no longer fits: \(name), \(error)")
                }
            }
            let addAll = { (next: inout Content) throws(Refusal) in
                for application in record.applications { try self.add(application, to: &next) }
                for person in record.people { try self.add(person, to: &next) }
                try self.take(next)
            }
            if (try? addAll(&content)) != nil { return }
            // Something is wrong, and the others are not.
            content = Content()
            for application in record.applications {
                keep(application.declaration) { next throws(Refusal) in try self.add(application, to: &next) }
            }
            for person in record.people {
                keep(person.declaration) { next throws(Refusal) in try self.add(person, to: &next) }
            }
        }
    }

    /// Forgets everything that was registered. The state has forgotten it already.
    package func forget() {
        content.withLock { content in
            content = Content()
            try? take(content)
        }
    }

    // MARK: Applications

    /// Registers an application.
    ///
    /// - Parameters:
    ///   - beside: Whether its name has to differ from the others'.
    ///   - makesSecret: Whether one is made for an application that needs one and brings none.
    /// - Returns: The application, and its secret, which is never seen again.
    package func addApplication(
        _ declaration: Declaration, isNameUnique: Bool, makesSecret: Bool
    ) throws(Refusal) -> (client: DemoClient, secret: String?) {
        try change { content throws(Refusal) in
            guard content.applications.count < Self.mostApplications else {
                throw .full("there are \(Self.mostApplications) applications already, the most at run time")
            }
            var declaration = declaration
            var client = try read(declaration, beside: isNameUnique ? registrations.all : [])
            let needsSecret = !client.webRedirectURIs.isEmpty || !client.applicationRoles.isEmpty
            let secret = client.secret ?? (makesSecret && needsSecret ? clock.opaqueText(30) : nil)
            client.keepsOnlyHash(of: secret, clock: clock)
            let identity = RunTimeIdentity(objectID: clock.newID(), created: clock.now())
            client.registered = identity
            (declaration["secret"], declaration["client_id"]) = (nil, .string(client.id))
            content.applications.append(Application(declaration: declaration, identity: identity, client: client))
            return (client, secret)
        }
    }

    /// Changes an application. A new secret takes the place of all others.
    package func changeApplication(
        _ id: String, isNameUnique: Bool, _ edit: Edit
    ) throws(Refusal) -> DemoClient {
        try changeApplication(id) { application throws(Refusal) in
            var declaration = try edit(application.declaration)
            let others = registrations.all.filter { $0.id != application.client.id }
            var client = try read(declaration, beside: isNameUnique ? others : [])
            guard client.id == application.client.id else {
                throw .mistakes(["application.client_id cannot be changed; remove the application and add another"])
            }
            (client.registered, client.secrets) = (application.identity, application.client.secrets)
            client.keepsOnlyHash(of: client.secret, clock: clock)
            declaration["secret"] = nil
            (application.declaration, application.client) = (declaration, client)
            return client
        }
    }

    /// Removes an application, and what people have consented to.
    package func removeApplication(_ id: String) throws(Refusal) {
        try change { content throws(Refusal) in
            _ = content.applications.remove(at: try place(ofApplication: id, in: content))
        } also: { record in
            record.consents = record.consents.filter { !$0.key.lowercased().hasPrefix("\(id.lowercased()) ") }
            record.adminConsents = record.adminConsents.filter { $0.key.lowercased() != id.lowercased() }
        }
    }

    /// Makes a secret for an application.
    ///
    /// - Returns: It, and its text, which is never seen again.
    package func addSecret(
        to id: String, name: String?, start: Date?, end: Date?
    ) throws(Refusal) -> (secret: ClientSecret, text: String) {
        try changeApplication(id) { application throws(Refusal) in
            guard application.client.secrets.count < Self.mostSecrets else {
                throw .full("the application has \(Self.mostSecrets) secrets already, the most at run time")
            }
            let text = clock.opaqueText(30)
            let secret = ClientSecret(text, name: name, start: start, end: end, clock: clock)
            application.client.secrets.append(secret)
            return (secret, text)
        }
    }

    /// Removes a secret of an application.
    package func removeSecret(_ keyID: String, from id: String) throws(Refusal) {
        try changeApplication(id) { application throws(Refusal) in
            guard let place = application.client.secrets.firstIndex(where: { $0.keyID == keyID.lowercased() }) else {
                throw .unknown(keyID)
            }
            application.client.secrets.remove(at: place)
        }
    }

    private func changeApplication<Value: Sendable>(
        _ id: String, _ body: (inout Application) throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
        try change { content throws(Refusal) in
            let place = try place(ofApplication: id, in: content)
            return try body(&content.applications[place])
        }
    }

    private func place(ofApplication id: String, in content: Content) throws(Refusal) -> Int {
        if let place = content.applications.firstIndex(where: { $0.client.id.lowercased() == id.lowercased() }) {
            return place
        }
        throw registrations.client(id: id) == nil ? .unknown(id) : .fixed(id)
    }

    private func add(_ record: RunTimeRecord.Application, to content: inout Content) throws(Refusal) {
        let declaration = JSONValue(parsing: record.declaration.utf8)?.object ?? [:]
        var client = try read(declaration, beside: [])
        (client.registered, client.secrets) = (record.identity, record.secrets)
        guard registrations.client(id: client.id) == nil else { throw .taken(client.id) }
        content.applications.append(
            Application(declaration: declaration, identity: record.identity, client: client))
    }

    private func read(_ declaration: Declaration, beside: [DemoClient]) throws(Refusal) -> DemoClient {
        do {
            return try configured.reader.application(.object(declaration), beside)
        } catch {
            throw .mistakes(error.all)
        }
    }

    // MARK: People

    /// Stands in a declaration for the password, of which only the hash is kept.
    private static let hidden: JSONValue = "(hashed)"

    /// Registers a person.
    package func addPerson(_ declaration: Declaration) throws(Refusal) -> DemoAccount {
        let identity = RunTimeIdentity(objectID: clock.newID(), created: clock.now())
        // No number of revocations is that of somebody who had the name before.
        let revocations = clock.randomBytes(4).reduce(1) { $0 << 8 + Int($1) }
        let username = try change { content throws(Refusal) in
            guard content.people.count < Self.mostPeople else {
                throw .full("there are \(Self.mostPeople) people already, the most at run time")
            }
            var user = try read(declaration)
            let username = user.username.lowercased()
            guard !isTaken(username) else { throw .taken(username) }
            guard content.people.reduce(user.manyGroups, { $0 + $1.user.manyGroups }) <= DemoUser.mostManyGroups else {
                throw .full("many_groups of all people are more than \(DemoUser.mostManyGroups), the most at run time")
            }
            user.keepsOnlyHash(clock: clock)
            user.registered = identity
            content.people.append(
                Person(declaration: Self.hidingPassword(declaration), identity: identity, user: user))
            return username
        } also: { record in
            guard let username = declaration["username"]?.string?.lowercased() else { return }
            record.revocations[username] = revocations
        }
        guard let account = directory.account(username: username) else { throw .unknown(username) }
        return account
    }

    /// Changes a person. A new password takes the place of the one before, also of one that the person has chosen.
    @discardableResult
    package func changePerson(_ username: String, _ edit: Edit) throws(Refusal) -> DemoAccount {
        let username = username.lowercased()
        var hasNewPassword = false
        try change { content throws(Refusal) in
            let place = try place(ofPerson: username, in: content)
            let person = content.people[place]
            let declaration = try edit(person.declaration)
            var user = try read(declaration)
            guard user.username.lowercased() == username else {
                throw .mistakes(["user.username cannot be changed; remove the person and add another"])
            }
            hasNewPassword = declaration["password"] != person.declaration["password"]
            if hasNewPassword {
                user.keepsOnlyHash(clock: clock)
            } else {
                (user.password, user.storedPassword) = ("", person.user.storedPassword)
            }
            user.registered = person.identity
            content.people[place] = Person(
                declaration: Self.hidingPassword(declaration), identity: person.identity, user: user)
        } also: { record in
            record.displayNames?[username] = nil
            guard hasNewPassword else { return }
            record.passwords?[username] = nil
            record.revoke(username, at: clock.now())
        }
        guard let account = directory.account(username: username) else { throw .unknown(username) }
        return account
    }

    /// Removes a person, with all that they have.
    package func removePerson(_ username: String) throws(Refusal) {
        let username = username.lowercased()
        try change { content throws(Refusal) in
            _ = content.people.remove(at: try place(ofPerson: username, in: content))
        } also: { record in
            record.forget(username)
        }
    }

    private func place(ofPerson username: String, in content: Content) throws(Refusal) -> Int {
        if let place = content.people.firstIndex(where: { $0.user.username.lowercased() == username }) {
            return place
        }
        throw isTaken(username) ? .fixed(username) : .unknown(username)
    }

    /// Whether there is somebody of a name, those who signed up included.
    private func isTaken(_ username: String) -> Bool {
        directory.account(username: username) != nil
            || state.read { $0.signUps?.contains { $0.username == username } == true }
    }

    private func add(_ record: RunTimeRecord.Person, to content: inout Content) throws(Refusal) {
        let declaration = JSONValue(parsing: record.declaration.utf8)?.object ?? [:]
        var user = try read(declaration)
        (user.password, user.storedPassword, user.registered) = ("", record.password, record.identity)
        guard directory.account(username: user.username) == nil else { throw .taken(user.username) }
        content.people.append(Person(declaration: declaration, identity: record.identity, user: user))
    }

    private func read(_ declaration: Declaration) throws(Refusal) -> DemoUser {
        do {
            return try configured.reader.person(.object(declaration))
        } catch {
            throw .mistakes(error.all)
        }
    }

    private static func hidingPassword(_ declaration: Declaration) -> Declaration {
        var declaration = declaration
        if declaration["password"] != nil { declaration["password"] = hidden }
        return declaration
    }

    // MARK: Changes

    /// Makes one change, which the state has with it.
    ///
    /// - Parameter end: Changes what the state has beside it.
    private func change<Value: Sendable>(
        _ body: (inout Content) throws(Refusal) -> Value, also end: (inout TenantState.Record) -> Void = { _ in }
    ) throws(Refusal) -> Value {
        try content.withLock { content throws(Refusal) in
            var next = content
            let value = try body(&next)
            try take(next)
            content = next
            state.change { record in
                record.runTime = next.record
                end(&record)
            }
            return value
        }
    }

    /// Lets requests see a content, if everything in it is right beside the configuration.
    private func take(_ content: Content) throws(Refusal) {
        do throws(DemoTenantError) {
            let clients = configured.clients + content.applications.map(\.client)
            let new = try Registrations(clients, reference: registrations.reference)
            let people = try Directory(
                users: configured.users + content.people.map(\.user), groups: configured.groups,
                hasDemoAccounts: configured.hasDemoAccounts, clients: clients)
            registrations.become(new)
            scopes.become(Scopes(new.all, reference: new.reference))
            directory.become(people)
        } catch {
            throw .mistakes([error.description])
        }
    }
}

extension DemoClient {
    /// Replaces the secrets by the hash of one, if there is a new one.
    fileprivate mutating func keepsOnlyHash(of secret: String?, clock: TenantClock) {
        if let secret {
            secrets = [ClientSecret(secret, name: nil, start: nil, end: secretExpires, clock: clock)]
        }
        (self.secret, secretExpires) = (nil, nil)
    }
}

extension DemoUser {
    /// Replaces the password by its hash.
    fileprivate mutating func keepsOnlyHash(clock: TenantClock) {
        storedPassword = password.isEmpty ? nil : StoredPassword(password, clock: clock)
        password = ""
    }
}
