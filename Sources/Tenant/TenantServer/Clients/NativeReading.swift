import WebFormats

/// One result of MSAL's native authentication for an answer. Only one of the methods is called.
struct NativeReading: Sendable, Hashable {
    /// The delegate's methods of which MSAL calls one. Empty if MSAL sends another request first.
    var methods: [String] = []
    var isError = false
    /// The property of the error that is true; nil for a general error.
    var property: String?
    /// The state that the app then holds; nil if it has to begin again, or has finished.
    var state: String?
    /// The request that MSAL sends itself.
    var next: String?
    /// Whether this is so only if the app gave the password to `signIn`, which the tenant cannot see.
    var givesPassword = false
}

/// An answer as MSAL's validators read it.
struct NativeAnswer: Sendable {
    let json: JSONValue?
    /// The words by which rows know the answer, the first that a row has counts. `redirect` is the way to the browser.
    let words: [String]

    init(status: Int, body: [UInt8]) {
        let json = JSONValue(parsing: body)
        self.json = json
        switch status {
        case 200 where json?["challenge_type"] == "redirect": words = ["redirect"]
        case 200: words = ["200 \((json?["challenge_type"] ?? json?["status"])?.string ?? "")", "200"]
        // MSAL decodes no other errors.
        case 400, 401:
            let error = json?["error"]?.string ?? ""
            let suberror = json?["suberror"]?.string
            let codes = json?["error_codes"]?.array?.compactMap(\.integer) ?? []
            let isOfUsername =
                json?["error_description"]?.string?.contains("username parameter is empty or not valid") == true
            words =
                [suberror.map { $0.hasPrefix("password_") ? "\(error) password" : "\(error) \($0)" }].compactMap(\.self)
                + codes.prefix(1).flatMap { (isOfUsername ? ["\(error) \($0) username"] : []) + ["\(error) \($0)"] }
                + codes.map { "\(error) with \($0)" } + [error]
        default: words = []
        }
    }

    /// Whether the answer has a member without which MSAL cannot go on.
    func has(_ name: String) -> Bool {
        guard let value = json?[name], value != .null, value != "" else { return false }
        return value.array?.isEmpty != true
    }
}
