import Foundation
import Testing

@testable import OpenIDConnect

/// `auth_time`: which values say something, and what counts as within a time.
@Suite struct AuthenticationTimeTests {
    @Test(arguments: [
        (#"{"auth_time": 1800000000}"#, true), (#"{"auth_time": 1800000000.5}"#, true), (#"{"auth_time": 1}"#, true),
        // Glewlwyd does not know it.
        (#"{"auth_time": 0}"#, false), (#"{"auth_time": -1}"#, false), (#"{"auth_time": 1e300}"#, false),
        (#"{"auth_time": "1800000000"}"#, false), (#"{"auth_time": true}"#, false), (#"{"auth_time": null}"#, false),
        ("{}", false), ("[]", false), ("", false), ("{", false),
    ])
    func `only a number of seconds above 0 is an authentication time`(json: String, says: Bool) {
        #expect((AuthenticationTime(ofValidated: json) != nil) == says)
    }

    @Test(arguments: [(-301, false), (-300, true), (0, true), (60, true), (360, true), (361, false)])
    func `a time is taken with five minutes' leeway on both sides`(seconds: Int, isWithin: Bool) throws {
        let begin = Date(timeIntervalSince1970: 1_800_000_000)
        let time = try #require(AuthenticationTime(ofValidated: "{\"auth_time\": \(1_800_000_000 + seconds)}"))
        #expect(time.isWithin(begin...begin.addingTimeInterval(60)) == isWithin)
    }

    @Test func `max_age is a parameter of ours, which no extra parameter can replace`() async throws {
        let provider = try TestProvider()
        let metadata = try await provider.directory().metadata(for: provider.authority)
        var request = AuthorizationRequest(prompt: .login)
        request.maxAge = 0
        request.extraParameters = [("max_age", "9999")]
        let url = request.url(metadata: metadata, registration: registration(), attempt: attempt)
        let items = try #require(URLComponents(string: url)?.queryItems)
        #expect(items.filter { $0.name == "max_age" }.map(\.value) == ["0"])
    }
}
