package import WebFormats

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
