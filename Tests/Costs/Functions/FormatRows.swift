#if DEBUG
    import WebFormats

    private func elements(_ one: String, _ bytes: Int) -> String {
        "[" + Array(repeating: one, count: max(1, bytes / (one.utf8.count + 1))).joined(separator: ",") + "]"
    }

    func formatRows() -> [Row] {
        let deep = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
        let insideJSON: [(String, String)] = [
            ("", ""), ("[", "]"), ("[\"", "\"]"), ("{\"", "\":1}"), ("{\"a\":", "}"), ("[-", "]"), ("[0.", "]"),
            ("[1.0e-", "]"),
        ]
        let made: [(String, @Sendable (Int) -> String)] = [
            ("members", members), ("names of one length", { elements(#"{"a":{"b":[]}}"#, $0) }),
            ("deep arrays", { elements(deep, $0) }),
            ("escaped surrogates", { "[\"" + repeated("\\ud83d\\ude00", $0) + "\"]" }),
            ("escapes in a name", { "{\"" + repeated("\\u0301\\u0323", $0) + "\":1}" }),
        ]
        let now = HTTPDate(secondsSince1970: 1_800_000_000)
        return [
            Row(name: "JSON", frames: insideJSON, made: made) { text in
                let value = JSONValue(parsing: Array(text.utf8))
                _ = value?.text
                _ = value.map { $0.merging($0) }
            },
            Row(name: "forms and queries", frames: [("", ""), ("a=", ""), ("", "=a")]) { text in
                let fields = try FormFields(query: text)
                _ = (fields["b"], fields.hasRepeatedNames, fields.values(for: "a"))
            },
            Row(name: "query encoding") { _ = FormEncoding.encode([("a", $0)]) },
            Row(name: "percent-decoding") { _ = PercentDecoding.bytes($0.utf8) },
            Row(name: "base64url") { _ = Base64URL.decode($0.utf8) },
            Row(name: "Retry-After", frames: [("", ""), ("Sun, ", " GMT")]) { _ = RetryAfter.pause($0, now: now) },
        ]
    }
#endif
