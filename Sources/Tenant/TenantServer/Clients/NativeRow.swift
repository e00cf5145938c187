import TenantControl

/// MSAL's reading of the answers to one request of native authentication at one point of a flow. The rows are in
/// `NativeRow.table`.
struct NativeRow: Sendable {
    /// The errors after which the app keeps a state.
    enum Kept: Sendable { case afterAll, afterAllButRedirect, afterListed }

    enum Result: Sendable {
        case call(String, state: String? = nil)
        case next(Controls.NativeEndpoint)
        /// The error whose property is true; nil for a general error.
        case failure(String?)
    }

    struct Rule: Sendable {
        let word: String
        /// The members without which the result is a general error.
        let needs: [String]
        let result: Result

        init(_ word: String, _ needs: [String], _ result: Result) {
            (self.word, self.needs, self.result) = (word, needs, result)
        }

        init(_ word: String, _ result: Result) { self.init(word, [], result) }
    }

    let endpoint: Controls.NativeEndpoint
    let grant: String?
    /// Kinds of flows and their steps; empty for all.
    let points: Set<String>
    let givesPassword: Bool
    let errors: [String]
    let kept: (state: String, after: Kept)?
    let rules: [Rule]

    init(
        _ endpoint: Controls.NativeEndpoint, _ grant: String? = nil, at points: Set<String> = [],
        givesPassword: Bool = false, errors: [String], keeps kept: (state: String, after: Kept)? = nil, _ rules: [Rule]
    ) {
        (self.endpoint, self.grant, self.points, self.givesPassword) = (endpoint, grant, points, givesPassword)
        (self.errors, self.kept, self.rules) = (errors, kept, rules)
    }

    static let grants = ["password", "oob", "mfa_oob", "continuation_token", "attributes", "refresh_token"]

    /// Returns the results for an answer: of the first row that fits, and of the first for an app that gave the password to
    /// `signIn`, if that differs.
    static func readings(
        _ endpoint: Controls.NativeEndpoint, grant: String?, at points: Set<String>, _ answer: NativeAnswer
    ) -> [NativeReading] {
        let rows = table.filter {
            $0.endpoint == endpoint && ($0.grant == nil || $0.grant == grant)
                && ($0.points.isEmpty || !$0.points.isDisjoint(with: points))
        }
        guard let reading = rows.first(where: { !$0.givesPassword })?.reading(answer) else { return [] }
        guard var other = rows.first(where: \.givesPassword)?.reading(answer), other != reading else {
            return [reading]
        }
        other.givesPassword = true
        return [reading, other]
    }

    private func reading(_ answer: NativeAnswer) -> NativeReading {
        let rule = answer.words.lazy.compactMap { word in rules.first { $0.word == word } }.first
        guard let rule, rule.needs.allSatisfy(answer.has) else {
            return failure(answer.words == ["redirect"] ? "isBrowserRequired" : nil, isListed: false)
        }
        switch rule.result {
        case .call(let method, let state): return NativeReading(methods: [method], state: state)
        case .next(let endpoint): return NativeReading(next: endpoint.rawValue)
        case .failure(let property): return failure(property, isListed: true)
        }
    }

    private func failure(_ property: String?, isListed: Bool) -> NativeReading {
        let state = kept.flatMap { kept in
            switch kept.after {
            case .afterAll: kept.state
            case .afterAllButRedirect: property == "isBrowserRequired" ? nil : kept.state
            case .afterListed: isListed ? kept.state : nil
            }
        }
        return NativeReading(methods: errors, isError: true, property: property, state: state)
    }
}
