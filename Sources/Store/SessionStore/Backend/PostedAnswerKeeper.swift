package import Foundation

/// A response that the browser posted for the provider, kept until the browser fetches it. Anyone who has begun a
/// sign-in may post. Therefore the total is limited, and a response can only be displaced by responses from the same
/// address.
package struct PostedAnswer: Sendable {
    /// The time for which a response is kept.
    package static let lifetime: Duration = .seconds(60)
    /// The most responses that are kept at a time.
    package static let maxCount = 1_000
    /// The most responses from one address; the oldest make room.
    package static let maxPerAddress = 100
    /// The most bytes that all responses take together.
    package static let maxBytes = 2 << 20
    /// The most bytes of those from one address; the oldest make room.
    package static let maxBytesPerAddress = maxBytes / 10

    package let handle: SHA256Hash
    /// The signed address of the client, which shows whether two responses are from the same address.
    package let asker: Data
    package let sealed: Data
    /// The expiration time, in milliseconds since 1970.
    package let endsAt: Int64
}

extension SignInRules {
    /// Whether there is room for another posted response.
    ///
    /// - Parameters:
    ///   - bytes: the size of the new one.
    ///   - count: the number of other responses.
    ///   - size: their total size in bytes.
    package static func hasRoom(forAnswer bytes: Int, beside count: Int64, _ size: Int64) -> Bool {
        count < PostedAnswer.maxCount && size + Int64(bytes) <= PostedAnswer.maxBytes
    }

    /// Returns the number of an address's responses that stay beside a new one.
    ///
    /// - Parameter sizes: their sizes in bytes, the newest first.
    package static func answersThatStay(_ sizes: [Int], beside bytes: Int) -> Int {
        var size = bytes
        return sizes.prefix(PostedAnswer.maxPerAddress - 1).prefix(while: { (other: Int) -> Bool in
            size += other
            return size <= PostedAnswer.maxBytesPerAddress
        }).count
    }
}

/// Keeps posted responses: in a clustered database, or in the memory of a single server.
package protocol PostedAnswerKeeper: Sendable {
    /// Keeps a posted response, which replaces one with the same handle. Deletes expired ones, and the oldest from the
    /// same address that do not stay (``SignInRules/answersThatStay(_:beside:)``).
    ///
    /// - Returns: false when ``SignInRules/hasRoom(forAnswer:beside:_:)`` finds no room.
    func keep(_ answer: PostedAnswer, now: Int64) async throws(StoreError) -> Bool
    /// - Returns: the sealed response; nil if it does not exist or has expired.
    func postedAnswer(_ handle: SHA256Hash, now: Int64) async throws(StoreError) -> Data?
}
