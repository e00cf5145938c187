import Foundation
import Testing
import WebFormats

@testable import TenantControl
@testable import TenantDirectory
@testable import TenantGraph
@testable import TenantServer
@testable import TenantSignIn

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

    @Test func `each photo is of its own person`() throws {
        let portraits = DemoAccount.builtIn.compactMap(\.portrait)
        #expect(portraits.count == 4)
        #expect(Set(portraits).count == portraits.count)
        let photos = try Photos(publicFolder: TestTenant.publicFolder)
        let pictures = portraits.flatMap { portrait in Photo.sides.map { photos[Photo(portrait: portrait, side: $0)] } }
        #expect(Set(pictures).count == 20)
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

    @Test func `the photo's description has its size, and there is none without a photo`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.tokens("adele@contoso.example", ["scope": "User.ReadBasic.All"])
                .member("access_token")
            let photo = try await browser.me(token, path: "/v1.0/me/photo")
            #expect(photo.json?["width"] == 240 && photo.member("id") == "240x240")
            #expect(photo.member("@odata.mediaContentType") == "image/jpeg")
            let other = try await browser.me(token, path: "/v1.0/users/megan%40contoso.example/photo")
            #expect(other.status == 404 && other.graphError == "ImageNotFound")
        }
    }

    @Test func `a photo is there in several sizes, each of which is named by its sides`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.tokens("adele@contoso.example", ["scope": "User.ReadBasic.All"])
                .member("access_token")
            let all = try await browser.me(token, path: "/v1.0/me/photos")
            let ids = all.json?["value"]?.array?.compactMap { $0["id"]?.string }
            #expect(ids == ["48x48", "64x64", "96x96", "120x120", "240x240"])
            for (person, side) in [("me", 48), ("users/adele%40contoso.example", 96)] {
                let path = "/v1.0/\(person)/photos/\(side)x\(side)"
                #expect(try await browser.me(token, path: path).json?["width"] == .integer(side))
                let picture = try await browser.me(token, path: path + "/$value")
                #expect(picture["Content-Type"] == "image/jpeg")
                // The frame of a baseline JPEG begins with the precision, the height and the width.
                let frame = try #require(picture.body.firstRange(of: [0xFF, 0xC0]))
                let sides = [UInt8(side), 0, UInt8(side)]
                #expect(Array(picture.body[frame.upperBound...].dropFirst(2).prefix(5)) == [8, 0] + sides)
            }
            for path in ["me/photos/50x50", "me/photos/50x50/$value", "users/megan%40contoso.example/photos/48x48"] {
                let none = try await browser.me(token, path: "/v1.0/\(path)")
                #expect(none.status == 404 && none.graphError == "ImageNotFound")
            }
        }
    }

    @Test(
        arguments: [
            ("GET", "/v1.0/me", 403, "Authorization_RequestDenied"),
            ("GET", "/v1.0/nothing", 400, "BadRequest"), ("GET", "/v1.0/", 400, "BadRequest"),
            ("GET", "/v1.0", 400, "BadRequest"), ("GET", "/v1.0/me/nothing", 400, "BadRequest"),
            ("GET", "/v1.0/me//", 400, "BadRequest"),
            ("PATCH", "/v1.0/me", 405, "Request_BadRequest"), ("POST", "/v1.0/me/memberOf", 405, "Request_BadRequest"),
            ("GET", "/v1.0/me/getMemberObjects", 405, "Request_BadRequest"),
            ("DELETE", "/v1.0/users", 405, "Request_BadRequest"), ("GET", "/v1.0/me?$foo=1", 400, "BadRequest"),
        ])
    func `what Graph does not have, it refuses in its own form`(
        _ method: String, _ path: String, _ status: Int, _ code: String
    ) async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let bare = try await browser.tokens("adele@contoso.example", ["scope": "openid"]).member("access_token")
            let answer = try await browser.send(method, path, [("Authorization", "Bearer \(bare ?? "")")])
            #expect(answer.status == status)
            #expect(answer.graphError == code)
            #expect(answer.json?["error"]?["innerError"]?["request-id"]?.string == answer["request-id"])
            #expect((answer["Allow"] != nil) == (status == 405))
        }
    }

    @Test func `the person of another tenant is a guest there, with another id and name`() async throws {
        try await TestTenant.run { (tenant) async throws in
            let browser = tenant.browser()
            let token = try await browser.graphToken(
                "adele@contoso.example", "User.Read.All", segment: "tailspin.example")
            let me = try await browser.me(token, path: "/v1.0/me?$select=id,userPrincipalName,userType,mail")
            #expect(me.member("id") == "b0a6c1d4-5f1e-4d0b-8b57-2a9f6c3e7d18")
            #expect(me.member("userPrincipalName") == "adele_contoso.example#EXT#@tailspin.example")
            #expect(me.member("userType") == "Guest" && me.member("mail") == "adele@contoso.example")
            let byName = try await browser.me(
                token, path: "/v1.0/users/adele_contoso.example%23EXT%23%40tailspin.example?$select=id")
            #expect(byName.member("id") == me.member("id"))
            for key in ["adele@contoso.example", "87d349ed-44d7-43e1-9a83-5f2406dee5bd", "megan@contoso.example"] {
                let unknown = try await browser.me(token, path: "/v1.0/users/\(key)")
                #expect(unknown.status == 404 && unknown.graphError == "Request_ResourceNotFound", "\(key)")
            }
        }
    }
}

extension Browser {
    /// Returns a token for Graph with scopes to which an administrator has consented.
    func graphToken(_ username: String, _ scopes: String, segment: String = "common") async throws -> String {
        if username.hasSuffix("@contoso.example") {
            let admin = await copy()
            let fields = [
                ("client_id", TestTenant.web.id), ("redirect_uri", TestTenant.web.redirectURIs[0]), ("scope", scopes),
            ]
            var page = try await admin.get("/contoso.example/v2.0/adminconsent", fields)
            page = try await admin.submit(page, "username", "adele@contoso.example")
            page = try await admin.submit(page, "password", "demo")
            _ = try await admin.submit(page, "consent", "accept").callback()
        }
        let tokens = try await tokens(username, ["scope": scopes], segment: segment)
        return try #require(tokens.member("access_token"))
    }
}

extension Answer {
    /// The code of Graph's error.
    var graphError: String? { json?["error"]?["code"]?.string }

    /// The members of the elements of a collection with this name.
    func values(_ name: String) -> [String?] { (json?["value"]?.array ?? []).map { $0[name]?.string } }
}
