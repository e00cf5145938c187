import Foundation
import Testing

@testable import OpenIDConnect

@Suite("Challenges of WWW-Authenticate (RFC 9110 section 11.6.1)")
struct ChallengeTests {
    private static func bearer(_ parameters: [String: String]) -> AuthenticationChallenge {
        AuthenticationChallenge(scheme: "bearer", token68: nil, parameters: parameters)
    }

    @Test(
        arguments: [
            ([], []),
            ([""], []),
            (["Bearer"], [bearer([:])]),
            (["Bearer realm=\"\""], [bearer(["realm": ""])]),
            (["BEARER Realm=a"], [bearer(["realm": "a"])]),
            (["Bearer realm = \"a b\" ,\terror=\"x\""], [bearer(["realm": "a b", "error": "x"])]),
            (["Bearer error=\"x\", error=\"y\""], [bearer(["error": "x"])]),
            (["Bearer a=\"q\\\"uo\\\\te\""], [bearer(["a": "q\"uo\\te"])]),
            (["Bearer a=\"1, Basic b=2\""], [bearer(["a": "1, Basic b=2"])]),
            (
                ["Basic realm=\"x\", Bearer error=\"e\", claims=\"e30=\""],
                [
                    .init(scheme: "basic", token68: nil, parameters: ["realm": "x"]),
                    bearer(["error": "e", "claims": "e30="]),
                ]
            ),
            (
                ["Bearer error=\"e\"", "Negotiate YII=, Digest qop=auth"],
                [
                    bearer(["error": "e"]), .init(scheme: "negotiate", token68: "YII=", parameters: [:]),
                    .init(scheme: "digest", token68: nil, parameters: ["qop": "auth"]),
                ]
            ),
            ([", ,Bearer a=1,, ,b=2,"], [bearer(["a": "1", "b": "2"])]),
            (
                ["Negotiate, Bearer a=1"],
                [.init(scheme: "negotiate", token68: nil, parameters: [:]), bearer(["a": "1"])]
            ),
            // Reading ends at text that does not fit; the challenges before it count.
            (["Bearer a=\"open"], [bearer([:])]),
            (["Bearer a=1; b=2"], [bearer(["a": "1"])]),
            (["=nonsense", "Bearer a=1"], [bearer(["a": "1"])]),
        ] as [([String], [AuthenticationChallenge])])
    func `challenges are read`(_ fields: [String], _ expected: [AuthenticationChallenge]) {
        #expect(AuthenticationChallenge.parse(fields) == expected)
    }

    private static let claims = #"{"access_token":{"nbf":{"essential":true,"value":"1"}},"x":"??>>"}"#
    private static let base64 = Data(claims.utf8).base64EncodedString()

    @Test(
        arguments: [
            #"Bearer realm="", authorization_uri="https://a/b", error="insufficient_claims", claims="\#(base64)""#,
            #"Bearer claims="\#(base64)", error="insufficient_claims""#,
            #"Basic realm="x", Bearer error=insufficient_claims, claims="\#(base64)""#,
            #"Bearer error="insufficient_claims", claims="\#(base64.replacing("=", with: ""))""#,
            #"Bearer error="insufficient_claims", claims="\#(base64.replacing("+", with: "-").replacing("/", with: "_"))""#,
        ])
    func `challenges of insufficient claims carry them, in either alphabet, padded or not`(_ field: String) {
        #expect(
            ClaimsRequest(challenges: AuthenticationChallenge.parse([field]))?.json
                == ClaimsRequest(json: Self.claims)?.json)
    }

    @Test(
        arguments: [
            #"Bearer error="invalid_token", claims="\#(base64)""#, #"Bearer error="insufficient_claims""#,
            #"Bearer error="insufficient_claims", claims="%%%""#, #"Bearer error="insufficient_claims", claims="bm8=""#,
            #"Basic error="insufficient_claims", claims="\#(base64)""#,
        ])
    func `other challenges carry no claims`(_ field: String) {
        #expect(ClaimsRequest(challenges: AuthenticationChallenge.parse([field])) == nil)
    }

    @Test(
        arguments: [
            (#"Bearer error="insufficient_scope", scope="Mail.Read Mail.Send""#, ["Mail.Read", "Mail.Send"]),
            (#"Bearer error="insufficient_scope""#, []),
            (#"Bearer error="invalid_token", scope="a""#, nil),
        ] as [(String, [String]?)])
    func `a challenge of an insufficient scope names it`(_ field: String, _ scopes: [String]?) {
        #expect(AuthenticationChallenge.insufficientScopes(in: AuthenticationChallenge.parse([field])) == scopes)
    }

    @Test func `challenges that are cut or changed anywhere never trap`() {
        let field = Array(
            #"Basic realm="x", Bearer error="insufficient_claims", claims="\#(Self.base64)", Negotiate a=="#.utf8)
        for end in 0...field.count {
            _ = AuthenticationChallenge.parse([String(decoding: field[..<end], as: UTF8.self)])
        }
        for place in field.indices {
            for byte: UInt8 in [0, 0x09, 0x20, 0x22, 0x2C, 0x3D, 0x5C, 0x7F, 0xFF] {
                var changed = field
                changed[place] = byte
                _ = AuthenticationChallenge.parse([String(decoding: changed, as: UTF8.self)])
            }
        }
        let long = "Bearer a=\"" + String(repeating: "\\\"", count: 100_000)
        #expect(AuthenticationChallenge.parse([long]) == [Self.bearer([:])])
    }
}
