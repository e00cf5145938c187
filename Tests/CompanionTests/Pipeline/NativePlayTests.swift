import Foundation
import HTTPTypes
import Testing
import WebFormats

@testable import Companion
@testable import CompanionCore

/// The demo's page on which the server plays an app with native authentication.
@Suite struct NativePlayTests {
    private static func run(_ test: (Site, Visitor) async throws -> Void) async throws {
        try await Site.run(configured: { configuration in
            configuration.demoControlURL = configuration.applications[0].api.map { $0.origin + "/control" }
        }) { (site) async throws in try await test(site, Visitor(site)) }
    }

    private static func send(_ body: JSONValue, _ visitor: Visitor) async throws -> JSONValue {
        let answer = try await visitor.api(.post, "/api/demo/native", body: String(decoding: body.bytes, as: UTF8.self))
        guard answer.status == 200 else { throw TestFailure("\(answer.status) \(answer.text)") }
        return try #require(JSONValue(parsing: Array(answer.text.utf8)))
    }

    /// Takes one step. Where the platform is not done yet, its time passes, as it does between the polls of an app.
    private static func step(_ play: JSONValue, _ visitor: Visitor, at site: Site) async throws -> JSONValue {
        let sent = try await send(["play": play], visitor)
        if sent["answer"]?["status"] == "in_progress" { site.clock.advance(2) }
        return sent
    }

    /// Begins a flow, and returns the name of the play.
    private static func begin(_ flow: String, _ visitor: Visitor) async throws -> JSONValue {
        try #require(try await send(["flow": .string(flow)], visitor)["play"])
    }

    private static func methods(_ sent: JSONValue) -> [String] {
        sent["msal"]?.array?.flatMap { $0["methods"]?.array?.compactMap(\.string) ?? [] } ?? []
    }

    /// Takes all steps, and returns the methods that MSAL calls and the last answer.
    private static func play(
        _ flow: String, _ visitor: Visitor, at site: Site
    ) async throws -> (methods: [String], last: JSONValue) {
        let play = try await begin(flow, visitor)
        var all: [String] = []
        for _ in 0..<20 {
            let sent = try await step(play, visitor, at: site)
            if sent["answer"]?["status"] != "in_progress" { all += methods(sent) }
            if sent["is_over"] == true { return (all, sent) }
        }
        throw TestFailure("\(flow) does not end")
    }

    @Test(arguments: [
        ("sign_up", ["onSignUpCodeRequired", "onSignUpPasswordRequired", "onSignUpCompleted", "onSignInCompleted"]),
        ("sign_in", ["onSignInPasswordRequired", "onSignInCompleted"]),
        (
            "password_reset",
            [
                "onResetPasswordCodeRequired", "onPasswordRequired", "onResetPasswordCompleted", "onSignInCompleted",
            ]
        ),
        (
            "second_factor",
            [
                "onSignInPasswordRequired", "onSignInAwaitingMFA", "onMFARequestChallengeVerificationRequired",
                "onSignInCompleted",
            ]
        ),
    ])
    func `a flow is played to its end, and MSAL calls the app's methods in their order`(
        flow: String, methods: [String]
    ) async throws {
        try await Self.run { (site, visitor) async throws in
            let played = try await Self.play(flow, visitor, at: site)
            #expect(played.methods == methods)
            #expect(played.last["status"] == 200 && played.last["answer"]?["token_type"] == "Bearer")
            let over = try #require(played.last["play"])
            await #expect(throws: TestFailure.self) { _ = try await Self.send(["play": over], visitor) }
        }
    }

    @Test func `the browser gets no token, no code and no password`() async throws {
        try await Self.run { (site, visitor) async throws in
            var seen = ""
            for flow in ["sign_up", "sign_in", "password_reset", "second_factor"] {
                let play = try await Self.begin(flow, visitor)
                for _ in 0..<20 {
                    let sent = try await Self.step(play, visitor, at: site)
                    seen += String(decoding: sent.bytes, as: UTF8.self)
                    if sent["is_over"] == true { break }
                }
            }
            // The values that the server sent to the tenant, and got from it.
            var secrets: Set<String> = []
            for exchange in site.traffic.all {
                let fields = try FormFields(body: exchange.request.body).fields
                secrets.formUnion(
                    fields.filter { ["continuation_token", "oob", "password", "new_password"].contains($0.name) }.map(
                        \.value))
                let json = JSONValue(parsing: exchange.response.body)
                for name in ["continuation_token", "access_token", "refresh_token", "id_token", "client_info"] {
                    if let value = json?[name]?.string { secrets.insert(value) }
                }
                for message in json?["messages"]?.array ?? [] { secrets.insert(message["code"]?.string ?? "") }
            }
            secrets.remove("")
            #expect(secrets.count > 40)
            #expect(secrets.filter { seen.contains($0) } == [])
            #expect(seen.contains(#""name":"oob","value":"…""#))
        }
    }

    @Test func `a wrong code is said, leaves the app at its step, and the fifth ends the flow`() async throws {
        try await Self.run { (_, visitor) async throws in
            let play = try await Self.begin("sign_up", visitor)
            _ = try await Self.send(["play": play, "wrong": true], visitor)
            let asked = try await Self.send(["play": play], visitor)
            #expect(asked["typed"] == "code" && asked["position"] == 2)
            for _ in 1...5 {
                let wrong = try await Self.send(["play": play, "wrong": true], visitor)
                #expect(wrong["status"] == 400 && wrong["answer"]?["suberror"] == "invalid_oob_value")
                #expect(wrong["msal"]?.array?.first?["property"] == "isInvalidCode")
                #expect(wrong["position"] == 2 && wrong["is_over"] == false)
            }
            let late = try await Self.send(["play": play], visitor)
            #expect(late["answer"]?["error"] == "expired_token" && late["is_over"] == true)
        }
    }

    @Test(arguments: [("sign_in", "isInvalidPassword", 2), ("password_reset", "isInvalidPassword", 3)])
    func `a wrong password is said, and the right one goes on`(
        flow: String, property: String, position: Int
    ) async throws {
        try await Self.run { (_, visitor) async throws in
            let play = try await Self.begin(flow, visitor)
            for _ in 0..<position { _ = try await Self.send(["play": play], visitor) }
            let wrong = try await Self.send(["play": play, "wrong": true], visitor)
            #expect(wrong["msal"]?.array?.first?["property"]?.string == property)
            #expect(wrong["position"]?.integer == position)
            #expect(try await Self.send(["play": play], visitor)["status"] == 200)
        }
    }

    @Test func `what is no flow, and another site, are refused, and outside the demo there is nothing`() async throws {
        try await Self.run { (_, visitor) async throws in
            for body in [#"{"flow": "magic"}"#, "[]"] {
                #expect(try await visitor.api(.post, "/api/demo/native", body: body).code == "bad_request")
            }
            for body in ["{}", #"{"play": "x"}"#] {
                #expect(try await visitor.api(.post, "/api/demo/native", body: body).code == "not_found")
            }
            let foreign = try await visitor.send(
                .post, "/api/demo/native", headers: [.contentType: "application/json", .accept: "application/json"],
                body: #"{"flow": "sign_up"}"#)
            #expect(foreign.code == "cross_site_request")
            let flows = try await visitor.api(.get, "/api/demo/native").json["flows"] as? [String: [String]]
            #expect(flows?.count == 4 && flows?["sign_in"]?.last == "oauth2/v2.0/token")
            #expect(try await visitor.get("/native/play").status == 200)
            #expect(try await visitor.get("/").text.contains("/native/play"))
        }
        try await Site.run { (site) async throws in
            let visitor = Visitor(site)
            #expect(try await visitor.api(.get, "/api/demo/native").code == "not_found")
            #expect(try await visitor.api(.post, "/api/demo/native", body: #"{"flow":"sign_up"}"#).code == "not_found")
            #expect(try await visitor.get("/native/play").status == 404)
            #expect(try await !visitor.get("/native").text.contains("/native/play"))
        }
    }
}
