package import Foundation

/// The values that the tenant gives to an application or a person who is registered while it runs.
package struct RunTimeIdentity: Sendable, Codable, Hashable {
    /// The object ID. Who is registered anew under an old name gets another one, and nothing of the one before.
    package var objectID: String
    package var created: Date
}
