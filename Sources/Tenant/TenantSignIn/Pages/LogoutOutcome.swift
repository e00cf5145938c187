import Foundation

/// The outcome of a sign-out. It is encrypted in the address of the page that says so.
struct LogoutOutcome: Sendable, Codable {
    /// The browser that was signed out.
    var browserID: String
    var expires: Date
    var frames: [FrontChannelPage.Frame]
    var returnURI: String?
    /// The usernames that are still signed in.
    var remaining: [String]
}
