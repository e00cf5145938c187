package import Foundation
package import WebFormats

/// The values that the tenant gives to an application or a person who is registered while it runs.
package struct RunTimeIdentity: Sendable, Codable, Hashable {
    /// The object ID. Who is registered anew under an old name gets another one, and nothing of the one before.
    package var objectID: String
    package var created: Date
}

/// A secret of an application, of which only the hash is kept.
package struct ClientSecret: Sendable, Codable, Hashable {
    /// The lifetime of a secret whose end is not given: two years, the longest that the portal offers.
    package static let lifetime: TimeInterval = 2 * 365 * 24 * 3600

    package var keyID: String
    package var name: String?
    /// The first characters.
    package var hint: String
    package var start: Date
    package var end: Date
    private var hash: StoredPassword

    init(_ text: String, name: String?, start: Date?, end: Date?, clock: TenantClock) {
        keyID = clock.newID()
        self.name = name
        hint = String(text.prefix(3))
        self.start = start ?? clock.now()
        self.end = end ?? self.start.addingTimeInterval(Self.lifetime)
        hash = StoredPassword(text, clock: clock)
    }

    package func matches(_ text: String) -> Bool { hash.matches(text) }
}

/// The part of the state file about applications and people that were registered at run time.
struct RunTimeRecord: Sendable, Codable, Hashable {
    struct Application: Sendable, Codable, Hashable {
        var identity: RunTimeIdentity
        /// The keys of the tenant's file, JSON, without a secret.
        var declaration: String
        var secrets: [ClientSecret]
    }

    struct Person: Sendable, Codable, Hashable {
        var identity: RunTimeIdentity
        /// The keys of the tenant's file, JSON, without the password.
        var declaration: String
        /// Nil for a person who signs in by a code.
        var password: StoredPassword?
    }

    var applications: [Application] = []
    var people: [Person] = []
}

/// Reads declarations of applications and people as the tenant's file has them.
package struct DeclarationReader: Sendable {
    /// All mistakes of a declaration, as sentences.
    package struct Mistakes: Error {
        package var all: [String]

        package init(_ all: [String]) { self.all = all }
    }

    package typealias Application = @Sendable (JSONValue, _ beside: [DemoClient]) throws(Mistakes) -> DemoClient
    package typealias Person = @Sendable (JSONValue) throws(Mistakes) -> DemoUser

    /// Reads an application that has another ID and another name than those beside it.
    let application: Application
    let person: Person

    package init(application: @escaping Application, person: @escaping Person) {
        self.application = application
        self.person = person
    }
}
