import Foundation
import OpenIDConnect
import Testing

@testable import Companion
@testable import CompanionCore

/// Every error number of the facts: how the demo tenant gives it, what the API answers, and whom the page names.
@Suite struct PlatformErrorTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var number: String
        var code: String
        var status: Int
        var who: String
        var testDescription: String { number }
    }

    /// By `token_platform_error`, at a refresh.
    static let atToken = [
        Row(number: "AADSTS50076", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS50079", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS65001", code: "consent_required", status: 401, who: "user"),
        Row(number: "AADSTS70008", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS700082", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS50173", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS70043", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS54005", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS50020", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS50196", code: "interaction_required", status: 401, who: "operator"),
        Row(number: "AADSTS50034", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS50055", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS50057", code: "interaction_required", status: 401, who: "administrator"),
        Row(number: "AADSTS53000", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS53001", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS53005", code: "provider_rejected_client", status: 502, who: "administrator"),
        Row(number: "AADSTS90002", code: "provider_rejected_request", status: 502, who: "operator"),
        Row(number: "AADSTS500011", code: "provider_rejected_request", status: 502, who: "operator"),
        Row(number: "AADSTS50011", code: "provider_rejected_client", status: 502, who: "operator"),
        Row(number: "AADSTS500112", code: "provider_rejected_client", status: 502, who: "operator"),
        Row(number: "AADSTS7000218", code: "provider_rejected_client", status: 502, who: "operator"),
        Row(number: "AADSTS700025", code: "provider_rejected_client", status: 502, who: "operator"),
        Row(number: "AADSTS7000215", code: "provider_rejected_client", status: 502, who: "operator"),
        Row(number: "AADSTS7000222", code: "provider_rejected_client", status: 502, who: "operator"),
        Row(number: "AADSTS700027", code: "provider_rejected_client", status: 502, who: "operator"),
        Row(number: "AADSTS700016", code: "provider_rejected_client", status: 502, who: "operator"),
        Row(number: "AADSTS50194", code: "provider_rejected_client", status: 502, who: "operator"),
        Row(number: "AADSTS70011", code: "provider_rejected_request", status: 502, who: "operator"),
        Row(number: "AADSTS50105", code: "access_denied", status: 403, who: "administrator"),
        Row(number: "AADSTS53003", code: "interaction_required", status: 401, who: "administrator"),
    ]

    @Test(arguments: atToken) func `each error at the token endpoint has its code and explanation`(row: Row)
        async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            let number = row.number.drop { !$0.isNumber }
            try await site.control(#"{"token_platform_error": \#(number)}"#)
            let answer = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(answer.status == row.status, "\(answer.text)")
            try Self.expect(answer.json, row)
            // Only where the provider asks for the person does the account need one; nobody is signed out.
            let account = try await visitor.api(.get, "/api/ios/account").json
            #expect(account["account"] is [String: Any])
            #expect((account["needs_sign_in"] is String) == (row.status == 401))
        }
    }

    /// By `authorize_platform_error`, on the way back to the callback.
    static let atCallback = [
        Row(number: "AADSTS50058", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS16000", code: "interaction_required", status: 401, who: "user"),
        Row(number: "AADSTS65004", code: "cancelled", status: 400, who: "user"),
        Row(number: "AADSTS90094", code: "admin_consent_required", status: 401, who: "administrator"),
        Row(number: "AADSTS50105", code: "access_denied", status: 403, who: "administrator"),
        Row(number: "AADSTS53003", code: "access_denied", status: 403, who: "administrator"),
        Row(number: "AADSTS50194", code: "provider_rejected_client", status: 502, who: "operator"),
        Row(number: "AADB2C90118", code: "password_reset_requested", status: 400, who: "user"),
        Row(number: "AADB2C90091", code: "cancelled", status: 400, who: "user"),
        Row(number: "AADB2C90077", code: "interaction_required", status: 401, who: "user"),
    ]

    @Test(arguments: atCallback) func `each error at the callback has its code and explanation`(row: Row) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let number = row.number.firstMatch(of: /[0-9]+$/)?.output ?? ""
            try await site.control(#"{"authorize_platform_error": \#(number)}"#)
            let callback = try await visitor.signIn()
            #expect(callback.location?.hasPrefix("/ios?sign_in_error=\(row.code)&correlation_id=") == true)
            let answer = try await visitor.api(.get, "/api/ios/sign-in-failure").json
            let failure = try #require(answer["failure"] as? [String: Any])
            try Self.expect(failure, row)
            #expect(failure["status"] as? Int == row.status)
            if row.code == "admin_consent_required" {
                let action = try #require(failure["action"] as? [String: String])
                #expect(action == ["kind": "admin_consent", "url": site.origin + "/auth/ios/admin-consent"])
            }
        }
    }

    private static func expect(_ problem: [String: Any], _ row: Row) throws {
        #expect(problem["code"] as? String == row.code)
        let explanation = try #require(problem["explanation"] as? [String: String])
        #expect(explanation["number"] == row.number)
        #expect(explanation["who"] == row.who)
        #expect(explanation["cause"]?.hasSuffix(".") == true && explanation["remedy"]?.hasSuffix(".") == true)
        let remedy = try #require(try PlatformNumbersTests.languages().source.explanation(of: [row.number])?.remedy)
        #expect(explanation["remedy"] == remedy)
        #expect(row.who != "operator" || (problem["detail"] as? String)?.hasSuffix(remedy) == true)
        #expect(problem["correlation_id"] is String)
        // B2C names none.
        #expect((problem["trace_id"] is String) == row.number.hasPrefix("AADSTS"))
        #expect(problem["timestamp"] is String)
    }
}
