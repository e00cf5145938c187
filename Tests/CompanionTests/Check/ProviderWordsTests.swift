import HTTPTypes
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCheck

/// A finding quotes a provider's page or error.
@Suite struct ProviderWordsTests {
    private static func answer(_ body: String) -> ProviderResponse {
        ProviderResponse(head: HTTPResponse(status: .badRequest), body: Array(body.utf8))
    }

    @Test(
        arguments: [
            (
                "<html><title>Oh</title><body><h1>No such &quot;client&quot;</h1> <p>a&amp;lt;b",
                "Oh No such \"client\" a&lt;b"
            ),
            ("<style>p { color: red }</style>Red<SCRIPT>let a = '<p>'</SCRIPT>", "Red"),
            ("<script>never ends", nil), ("", nil), ("<", nil), ("<p", nil), ("a <b>b</b", "a b"),
            ("&unknown; &", "&unknown; &"),
            // Found by fuzzing: a mark that combines with the space before it went with that space.
            ("<b>\u{748}op</b> a \u{308}b", "\u{748}op a \u{308}b"),
            ("one\u{202E}two\r\nthree\u{0}\u{2028}four", "one two three four"),
            (#"{"error":"invalid_client","error_description":"Not\nknown"}"#, "Not known"),
            (#"{"error":"a","error_description":"AADSTS1: No.\r\nTrace ID: 1 Correlation ID: 2"}"#, "AADSTS1: No."),
            (#"{"error":"invalid_client"}"#, "invalid_client"), (#"{"error":7}"#, nil),
        ] as [(String, String?)])
    func `a page or an error is one line of words`(body: String, expected: String?) {
        #expect(SentValues(in: []).words(of: Self.answer(body)) == expected)
    }

    @Test func `many words are cut, and each byte of a page is read once`() {
        let long = SentValues(in: []).words(of: String(repeating: "word ", count: 5000))
        #expect(long?.count == 301 && long?.hasSuffix("…") == true)
        #expect(PageText(of: Array(String(repeating: "<script", count: 200_000).utf8)).words.isEmpty)
        #expect(PageText(of: Array(String(repeating: "<script></scrip", count: 100_000).utf8)).words.isEmpty)
    }

    @Test(arguments: [
        ("It was s3cret-of-mine!", "It was …!"), ("state=abcdefghijkl", "state=…"), ("piece s3cret-of", "piece …"),
        ("Basic Y2xpZW50OnMzY3JldC1vZi1taW5l", "Basic …"), ("client the-client", "client the-client"),
    ])
    func `values that were sent are blotted out`(text: String, expected: String) throws {
        var head = HTTPRequest(
            method: .post, scheme: "https", authority: "id.example.com",
            path: "/t?state=abcdefghijkl&client_id=the-client")
        head.headerFields[.authorization] = "Basic Y2xpZW50OnMzY3JldC1vZi1taW5l"
        let sent = SentValues(in: [ProviderRequest(head: head, body: Array("client_id=the-client".utf8))])
        #expect(sent.words(of: text) == expected)
    }
}
