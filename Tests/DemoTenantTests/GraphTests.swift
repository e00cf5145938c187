import Foundation
import Testing
import WebFormats

@testable import DemoTenant

@Suite("Graph")
struct GraphTests {
    @Test func `/me has the default properties, and the request's ids among its headers`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.tokens("adele@contoso.example").member("access_token")
            let id = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
            let answer = try await browser.me(token, headers: [("client-request-id", id)])
            #expect(
                Set(answer.json?.object?.keys.map(\.self) ?? []) == [
                    "@odata.context", "businessPhones", "displayName", "givenName", "id", "jobTitle", "mail",
                    "mobilePhone", "officeLocation", "preferredLanguage", "surname", "userPrincipalName",
                ])
            #expect(answer.member("displayName") == "Adele Vance")
            #expect(answer.member("id") == "87d349ed-44d7-43e1-9a83-5f2406dee5bd")
            #expect(answer["client-request-id"] == id)
            #expect(answer["request-id"]?.count == 36)
            // As Microsoft's tutorials for iOS and macOS write it.
            let tutorial = try await browser.me(token, path: "/v1.0/me/")
            #expect(tutorial.status == 200 && tutorial.body == answer.body)
            #expect(try await browser.count("graph_me") == 2)
        }
    }

    @Test func `the photo is a JPEG, or 404 with ImageNotFound`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let adele = try await browser.tokens("adele@contoso.example").member("access_token")
            for path in ["/v1.0/me/photo/$value", "/v1.0/me/photo/%24value"] {
                let photo = try await browser.me(adele, path: path)
                #expect(photo["Content-Type"] == "image/jpeg")
                #expect(Array(photo.body.prefix(4)) == [0xFF, 0xD8, 0xFF, 0xE0])
                #expect(Array(photo.body.suffix(2)) == [0xFF, 0xD9])
                #expect(photo.body.count < 20_000)
            }
            let megan = try await tenant.browser().tokens("megan@contoso.example").member("access_token")
            let none = try await browser.me(megan, path: "/v1.0/me/photo/$value")
            #expect(none.status == 404)
            #expect(none.json?["error"]?["code"] == "ImageNotFound")
        }
    }

    @Test func `each photo is of its own person`() {
        let portraits = DemoAccount.builtIn.compactMap(\.portrait)
        #expect(portraits.count == 4)
        #expect(Set(portraits).count == portraits.count)
        #expect(Portrait.adele.jpeg != Portrait.alex.jpeg)
    }

    @Test func `a missing or invalid token gets 401 InvalidAuthenticationToken in Graph's shape`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let tokens = try await browser.tokens("adele@contoso.example")
            let access = try #require(tokens.member("access_token"))
            let parts = access.split(separator: ".")
            let unsigned: JSONValue = ["alg": "none"]
            for token in [
                nil, "", "garbage", "a.b.c", "\(access)x", tokens.member("id_token"),
                "\(Base64URL.encode(unsigned.bytes)).\(parts[1]).", "\(parts[0]).\(parts[1]).",
            ] {
                let answer = try await browser.me(token)
                #expect(answer.status == 401)
                let error = answer.json?["error"]
                #expect(error?["code"] == "InvalidAuthenticationToken")
                #expect(error?["innerError"]?["request-id"]?.string == answer["request-id"])
                #expect(error?["innerError"]?["client-request-id"]?.string != nil)
                #expect(error?["innerError"]?["date"] == "2027-01-15T08:00:00")
                #expect(answer["WWW-Authenticate"]?.hasPrefix("Bearer realm=\"\"") == true)
            }
        }
    }

    @Test func `a token without User.Read and an unknown path are refused with Graph's codes`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let bare = try await browser.tokens("adele@contoso.example", ["scope": "openid"]).member("access_token")
            #expect(try await browser.me(bare).json?["error"]?["code"] == "Authorization_RequestDenied")
            let token = try await browser.tokens("adele@contoso.example").member("access_token")
            let unknown = try await browser.me(token, path: "/v1.0/users")
            #expect(unknown.status == 400)
            #expect(unknown.json?["error"]?["code"] == "BadRequest")
        }
    }
}
