import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire
import SessionStore
import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// `/metrics` reports what happened.
@Suite struct MetricsTests {
    @Test func `one person's day is counted by route, application and outcome`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            _ = try await visitor.get("/ios")
            _ = try await visitor.api(.get, "/api/ios/me")
            _ = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            _ = try await visitor.api(.get, "/api/ios/accounts/somebody")
            _ = try await visitor.send(HTTPRequest.Method("BREW") ?? .get, "/a/path/of/theirs")
            let metrics = try await visitor.metrics()
            for (series, value) in [
                (#"companion_build_info{version="\#(companionVersion)"}"#, 1.0),
                (#"companion_http_requests_total{route="/auth/{app}/sign-in",method="GET",status="302"}"#, 1),
                (#"companion_http_requests_total{route="/auth/callback",method="GET",status="303"}"#, 1),
                (#"companion_http_requests_total{route="/{app}",method="GET",status="200"}"#, 1),
                (#"companion_http_requests_total{route="/api/{app}/me",method="GET",status="200"}"#, 1),
                (#"companion_http_requests_total{route="/api/{app}/accounts/{id}",method="GET",status="405"}"#, 1),
                (#"companion_http_requests_total{route="none",method="other",status="404"}"#, 1),
                (#"companion_http_request_duration_seconds_count{route="/api/{app}/me"}"#, 1),
                (#"companion_sign_ins_started_total{app="ios",flow="sign_in"}"#, 1),
                (#"companion_sign_ins_total{app="ios",flow="sign_in",outcome="succeeded",code=""}"#, 1),
                (#"companion_sign_ins_total{app="macos",flow="sign_in",outcome="succeeded",code=""}"#, 0),
                (#"companion_token_acquisitions_total{app="ios",outcome="cache",code=""}"#, 1),
                (#"companion_token_acquisitions_total{app="ios",outcome="refreshed",code=""}"#, 1),
                (#"companion_api_requests_total{app="ios",status="200"}"#, 1),
                (#"companion_api_request_duration_seconds_count{app="ios"}"#, 1),
                // Metadata, keys, the code and the refresh token.
                (#"companion_provider_requests_total{provider="localhost:\#(site.tenantPort)",outcome="answered"}"#, 4),
                ("companion_database_writable", 1), ("companion_key_usable", 1),
                ("companion_sessions", 1), ("companion_sessions_signed_in", 1),
                (#"companion_database_failures_total{operation="write"}"#, 0),
                (#"companion_refresh_waits_total{outcome="gave_up"}"#, 0),
            ] {
                #expect(metrics.contains(series) && metrics[series] == value, "\(series) \(metrics[series])")
            }
            for series in [
                "companion_http_connections", #"companion_database_duration_seconds_count{operation="write"}"#,
                #"companion_database_duration_seconds_sum{operation="read"}"#, "process_resident_memory_bytes",
                "process_start_time_seconds", "process_cpu_seconds_total", "process_open_fds", "process_max_fds",
                "companion_disk_free_bytes", "companion_disk_size_bytes", "companion_session_cache_bytes",
            ] { #expect(metrics[series] > 0, "\(series)") }
            let age = Date.now.timeIntervalSince1970 - metrics["process_start_time_seconds"]
            #expect((-2..<86_400).contains(age), "the process began \(age) s ago")
        }
    }

    @Test func `no label contains data of a person or text of a request`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            for path in ["/api/ios/accounts/hush-id", "/auth/hush-app/sign-in", "/hush", "/api/hush/me"] {
                _ = try await visitor.get(path)
            }
            let text = try await visitor.get("/metrics").text
            for word in ["hush", "adele", "contoso.example", "127.0.0.1"] { #expect(!text.contains(word), "\(word)") }
        }
    }

    @Test(arguments: [
        (
            "a provider that answers with 503", #"{"token_error":{"status":503,"body":"down","times":1}}"#,
            [
                #"companion_token_acquisitions_total{app="ios",outcome="failed",code="provider_unavailable"}"#,
                #"companion_provider_requests_total{provider="localhost:PORT",outcome="failed"}"#,
            ]
        ),
        (
            "a provider that closes the connection", #"{"close_connection":"token"}"#,
            [
                #"companion_token_acquisitions_total{app="ios",outcome="failed",code="provider_unavailable"}"#,
                #"companion_provider_requests_total{provider="localhost:PORT",outcome="unreachable"}"#,
            ]
        ),
        (
            "a provider that is asked too often",
            #"{"token_error":{"status":429,"body":"","headers":{"Retry-After":"9"},"times":1}}"#,
            [
                #"companion_token_acquisitions_total{app="ios",outcome="failed",code="throttled"}"#,
                #"companion_provider_requests_total{provider="localhost:PORT",outcome="throttled"}"#,
            ]
        ),
        (
            "an API that is asked too often, twice",
            #"{"graph_error":{"status":429,"body":"{}","headers":{"Retry-After":"9"},"times":1}}"#,
            [
                #"companion_api_requests_total{app="ios",status="429"}"#,
                #"companion_api_throttled_total{app="ios",by="api"}"#,
                #"companion_api_throttled_total{app="ios",by="companion"}"#,
            ]
        ),
        (
            "an API that closes the connection", #"{"close_connection":"graph"}"#,
            [#"companion_api_requests_total{app="ios",status="unreachable"}"#]
        ),
    ])
    func `each fault changes a metric that an alert watches`(row: String, control: String, series: [String])
        async throws
    {
        try await Site.run { site in
            let visitor = Visitor(site)
            try await visitor.signIn()
            try await site.control(control)
            if control.contains("graph") {
                _ = try await visitor.api(.get, "/api/ios/me")
                if control.contains("graph_error") { _ = try await visitor.api(.get, "/api/ios/me") }
            } else {
                _ = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            }
            let metrics = try await visitor.metrics()
            for series in series.map({ $0.replacing("PORT", with: "\(site.tenantPort)") }) {
                #expect(metrics[series] == 1, "\(row): \(series)")
            }
        }
    }

    @Test(arguments: [
        ("a person who cancels", "adele@contoso.example", "cancel", "", "cancelled", "cancelled"),
        (
            "an account that is kept out", "adele@contoso.example", "accept",
            #"{"authorize_platform_error":50105}"#, "failed", "access_denied"
        ),
        (
            "a secret that the provider does not accept", "adele@contoso.example", "accept",
            #"{"token_platform_error":7000215}"#, "failed", "provider_rejected_client"
        ),
    ])
    func `a sign-in that does not succeed is counted with its code`(
        row: String, username: String, consent: String, control: String, outcome: String, code: String
    ) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            if consent == "cancel" { try await site.control(#"{"require_consent":"adele@contoso.example"}"#) }
            if !control.isEmpty { try await site.control(control) }
            try await visitor.signIn(username: username, consent: consent)
            let metrics = try await visitor.metrics()
            let series = #"companion_sign_ins_total{app="ios",flow="sign_in",outcome="\#(outcome)",code="\#(code)"}"#
            #expect(
                metrics[series] == 1, "\(row): \(metrics.series.filter { $0.hasPrefix("companion_sign_ins_total") })")
        }
    }

    @Test func `a clock that is ten minutes ahead of the provider's is reported in seconds`() async throws {
        try await Site.run { site in
            // The tenant's answers carry the kernel's time.
            site.clock.run()
            let visitor = Visitor(site)
            try await visitor.signIn()
            let series = #"companion_provider_clock_skew_seconds{provider="localhost:\#(site.tenantPort)"}"#
            #expect(abs(try await visitor.metrics()[series]) < 5)
            site.clock.advance(600)
            _ = try await visitor.api(.post, "/api/ios/token", body: #"{"force_refresh":true}"#)
            #expect(abs(try await visitor.metrics()[series] - 600) < 5)
        }
    }

    @Test func `a secret's last day and a missing credential are reported for each application`() async throws {
        try await Site.run(configured: { configuration in
            configuration.applications[0].clientSecretExpires = Date.now.addingTimeInterval(10 * 86_400)
            configuration.applications[1].credential = .secretFile("/nowhere/secret", method: nil)
            configuration.applications[2].credential = .fixed(.assertion("of-another-system"))
            configuration.applications[2].clientSecretExpires = Date.now
        }) { site in
            let metrics = try await Visitor(site).metrics()
            #expect(abs(metrics[#"companion_credential_expires_days{app="ios"}"#] - 10) < 0.1)
            #expect(!metrics.contains(#"companion_credential_expires_days{app="macos"}"#), "nobody said when")
            #expect(!metrics.contains(#"companion_credential_expires_days{app="contoso"}"#), "it has no secret")
            #expect(metrics[#"companion_credential_usable{app="ios"}"#] == 1)
            #expect(metrics.contains(#"companion_credential_usable{app="macos"}"#))
            #expect(metrics[#"companion_credential_usable{app="macos"}"#] == 0)
        }
    }

    @Test func `a database that another program holds is reported as not writable`() async throws {
        try await Site.run { site in
            let lock = try StoreLock(site.database)
            defer { lock.close() }
            try lock.take()
            let metrics = try await Visitor(site).metrics()
            #expect(metrics.contains("companion_database_writable") && metrics["companion_database_writable"] == 0)
            #expect(metrics[#"companion_database_failures_total{operation="write"}"#] > 0)
            try lock.release()
        }
    }
}

/// The format and the counting, without a server.
@Suite struct MetricFamilyTests {
    @Test(arguments: [
        (0.0, "0"), (3, "3"), (0.005, "0.005"), (-600, "-600"), (1.5e12, "1500000000000"), (.infinity, "+Inf"),
        (-.infinity, "-Inf"), (.nan, "NaN"),
    ])
    func `a number is written as Prometheus reads it`(value: Double, text: String) {
        #expect(MetricsText.number(value) == text)
    }

    @Test func `backslash, quote and line feed of a label's value are escaped`() {
        var text = MetricsText()
        text.family("a", .gauge, "x \\ \" \n y")
        text.sample("a", [("b", "x \\ \" \n y")], 1)
        #expect(text.text == "# HELP a x \\\\ \" \\n y\n# TYPE a gauge\na{b=\"x \\\\ \\\" \\n y\"} 1\n")
    }

    @Test func `a counter is the sum of all threads' additions, and ignores a place that does not exist`() async {
        let family = CounterFamily(
            "a", "b", [MetricLabel("x", ["0", "1"]), MetricLabel("y", ["0", "1", "2"])], workers: 2)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1000 { family.add(1, 2) }
                }
            }
        }
        for (first, second) in [(-1, 0), (2, 0), (0, 3), (0, -1)] { family.add(first, second) }
        var text = MetricsText()
        family.write(to: &text)
        #expect(text.text == "# HELP a b\n# TYPE a counter\na{x=\"1\",y=\"2\"} 8000\n")
    }

    @Test func `a duration is counted in its bucket and in all higher ones`() throws {
        let family = HistogramFamily("a", "b", MetricLabel("x", ["0", "1"]), workers: 1)
        for milliseconds in [0.0, 0.25, 0.26, 30, 60_000] {
            family.record(.milliseconds(milliseconds), 1)
        }
        family.record(.seconds(-1), 1)
        family.record(.seconds(1), 2)
        var text = MetricsText()
        family.write(to: &text)
        let read = try Exposition(text.text)
        for (le, count) in [("0.00025", 3.0), ("0.001", 4), ("0.025", 4), ("0.05", 5), ("10", 5), ("+Inf", 6)] {
            #expect(read[#"a_bucket{x="1",le="\#(le)"}"#] == count, "\(le)")
        }
        #expect(read[#"a_count{x="1"}"#] == 6)
        #expect(abs(read[#"a_sum{x="1"}"#] - 60.03051) < 1e-6)
        #expect(!read.contains(#"a_count{x="0"}"#), "nothing happened there")
    }

    @Test(arguments: [(200, "200"), (299, "2xx"), (404, "404"), (451, "4xx"), (599, "5xx"), (101, "1xx"), (999, "5xx")])
    func `a status that servers rarely send is counted in its class`(code: Int, text: String) throws {
        #expect(StatusLabel.values[StatusLabel.place(HTTPResponse.Status(code: code))] == text)
    }

    @Test func `every route has a name of its own`() {
        let names = RouteNumber.names
        #expect(Set(names).count == names.count)
        #expect(RouteNumber.none == RequestMark().number, "a request that the application has not seen")
    }
}
