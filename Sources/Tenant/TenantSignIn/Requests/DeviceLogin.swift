/// The progress at `/devicelogin`. Like that of a sign-in, it travels in the pages' addresses and forms, encrypted.
struct DeviceLogin: Sendable, Hashable, Codable {
    /// The reason why a code is not taken, by the platform's number.
    enum Refusal: Int, Sendable, Codable {
        case unknown = 70018
        case expired = 70019
        case missing = 90119
        case finished = 90120
        /// Too many tries. The number is the platform's for too many requests.
        case tooMany = 90055
    }

    /// The code, once the person has entered it.
    var userCode: String?
    /// The ID of the browser in which they entered it. In another one the address is worth nothing, so that nobody is
    /// led past the entry of a code and the question by a link.
    var browserID: String?
    /// Whether this person has approved or declined. To others the code is one that has been used.
    var hasDecided = false
    var refusal: Refusal?

    static let path = "/devicelogin"
}
