import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionPages

/// The pages for a person's own app. Their contents are scripts', which `Tests/scripts` and `Tests/Projects` check.
@Suite struct NativePagesTests {
    @Test(arguments: ["/native", "/native/map", "/native/case"])
    func `the pages are served, and count as one route`(path: String) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            #expect(try await visitor.send(.get, path, headers: [.accept: "text/html"]).status == 200)
            let metrics = try await visitor.get("/metrics").text
            #expect(metrics.contains(#"companion_http_requests_total{route="/native",method="GET",status="200"} 1"#))
        }
    }

    /// An application's page at the same address would never be seen.
    @Test(arguments: Pages.native + Pages.demo)
    func `no application can have a page's address`(path: String, file: String) throws {
        let first = try #require(path.split(separator: "/").first)
        #expect(Application.reservedIDs.contains(String(first)))
    }

    @Test(arguments: ["/native/lint", "/native/explain"])
    func `addresses that people may have kept lead to the paste box`(path: String) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let answer = try await visitor.send(.get, path, headers: [.accept: "text/html"])
            #expect(answer.status / 100 == 3 && answer.fields[.location] == "/paste")
            #expect(try await visitor.send(.get, "/paste", headers: [.accept: "text/html"]).status == 200)
        }
    }

    @Test func `a platform number with sentences of its own is among the texts that pages fetch`() async throws {
        try await Site.run { site in
            let texts = try await Visitor(site).get(Visitor(site).path(ofTexts: "platform")).json
            #expect(texts["AADB2C90118.cause"] as? String != nil)
            #expect((texts["AADSTS50011.cause"] as? String)?.contains("registrerad") == true)
        }
    }
}
