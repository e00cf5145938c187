import Foundation
import HTTPClient
import HTTPTypes
import Testing

@testable import Companion
@testable import CompanionCore

/// Answers that are about somebody else, or that are not what they should be.
@Suite struct OtherPersonTests {
    @Test func `another person's profile edit is refused, and signs nobody in`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "b2c", username: "b2cuser@fabrikamb2c.example")
            // At the provider this browser is somebody else, who made an account there.
            let other = Visitor(site)
            let profile = "new_username=other%40fabrikamb2c.example&display_name=Other"
            #expect(try await other.signIn(app: "b2c", query: "prompt=create", profile: profile).location == "/b2c")
            other.sessionCookie = visitor.sessionCookie
            let answer = try await other.signIn(
                app: "b2c", query: "policy=edit_profile", username: "other@fabrikamb2c.example",
                profile: "display_name=Else")
            #expect(
                answer.location?.hasPrefix("/b2c?sign_in_error=other_account&") == true, "\(answer.location ?? "-")")
            let accounts = try await visitor.api(.get, "/api/b2c/accounts").json["accounts"] as? [[String: Any]]
            #expect(accounts?.map { $0["username"] as? String } == ["b2cuser@fabrikamb2c.example"])
        }
    }

    @Test(arguments: [#"{"sub":"somebody-else","name":"Else"}"#, #"{"name":"Else"}"#, #"{"sub":null}"#, "[]"])
    func `UserInfo about another person is not shown`(body: String) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(app: "provider")
            try await site.control(#"{"graph_error": {"status": 200, "body": \#(body)}}"#)
            let answer = try await visitor.api(.get, "/api/provider/me")
            #expect(answer.status == 502 && answer.code == "api_unavailable")
            #expect(!answer.text.contains("Else"))
            #expect(try await visitor.api(.get, "/api/provider/me").status == 200, "it is asked again")
        }
    }

    @Test(arguments: [
        ("adele@contoso.example", #""48d31887-5fad-4d73-a9f5-3c356e68a038""#, 502),
        ("adele@contoso.example", #""""#, 502),
        ("adele@contoso.example", #""87D349ED-44D7-43E1-9A83-5F2406DEE5BD""#, 200),
        // Without an identifier, as with $select, it says nothing of a person.
        ("adele@contoso.example", "null", 200),
        ("alex@outlook.example", #""6d1f0a3b52c48e97""#, 200),
        ("alex@outlook.example", #""6d1f0a3b52c48e98""#, 502),
        ("alex@outlook.example", #""0a3b52c48e97""#, 502),
    ])
    func `Graph's answer about another person is not shown`(username: String, id: String, status: Int) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn(username: username)
            let body = #"{"status": 200, "body": {"id": \#(id), "displayName": "Else"}}"#
            try await site.control(#"{"graph_error": \#(body)}"#)
            let answer = try await visitor.api(.get, "/api/ios/me")
            #expect(answer.status == status && answer.text.contains("Else") == (status == 200))
            if status != 200 { #expect(answer.code == "api_unavailable") }
            #expect(try await visitor.api(.get, "/api/ios/me").status == 200, "it is asked again")
        }
    }

    @Test func `an API is asked for our identifier, and an answer with another one is not shown`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            for path in ["/api/ios/me", "/api/ios/me/photo"] {
                #expect(try await visitor.api(.get, path).status == 200)
                let sent = try #require(site.traffic.all.last?.request.head)
                let id = try #require(sent[HTTPField.Name.clientRequestID])
                #expect(UUID(uuidString: id) != nil)
                #expect(try sent[#require(HTTPField.Name("return-client-request-id"))] == "true")
                try await site.control(
                    #"{"graph_error": {"status": 200, "body": {"x": "Else"}, "headers": {"client-request-id": "\#(id)"}}}"#
                )
                let other = try await visitor.api(.get, path)
                #expect(other.status == 502 && other.code == "api_unavailable" && !other.text.contains("Else"))
            }
        }
    }

    @Test(
        arguments: [
            ("/api/ios/me", "text/html"), ("/api/ios/me", "application/javascript"), ("/api/ios/me", "image/svg+xml"),
            ("/api/ios/me", "text/plain"), ("/api/ios/me", ""), ("/api/ios/me", "image/png"),
            ("/api/ios/me/photo", "image/svg+xml"), ("/api/ios/me/photo", "text/html"),
            ("/api/ios/me/photo", "application/json"),
        ])
    func `an API's answer of another content type is not passed on`(path: String, type: String) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let answers = #""body": "<script>alert(1)</script>", "headers": {"Content-Type": "\#(type)"}"#
            for status in [200, 400, 503] where !(path.hasSuffix("photo") && status != 200) {
                try await site.control(#"{"graph_error": {"status": \#(status), \#(answers)}}"#)
                let answer = try await visitor.api(.get, path)
                #expect(answer.code == "api_unavailable", "\(status)")
                #expect(answer.fields[.contentType] == "application/problem+json", "\(status)")
                #expect(!answer.text.contains("script"), "\(status)")
            }
        }
    }

    @Test func `admin consent comes back to a page of ours, and to no other`() async throws {
        try await Site.run { site in
            let administrator = Visitor(site)
            for path in [
                "//evil.example", "https://evil.example", "/%5Cevil.example", "/auth/ios/sign-in", "/api/apps",
            ] {
                let query = path.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                let refused = try await administrator.api(
                    .get, "/auth/ios/admin-consent?tenant=contoso.example&return_to=\(query)")
                #expect(refused.status == 400 && refused.code == "bad_request", "\(path)")
            }
            let begun = try await administrator.get(
                "/auth/ios/admin-consent?tenant=contoso.example&return_to=%2Fmacos%3Fa%3Db")
            let answer = try await administrator.follow(
                try #require(begun.location), username: "adele@contoso.example")
            #expect(answer.location == "/macos?a=b&admin_consent=granted")
        }
    }
}
