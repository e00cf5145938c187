import Foundation

/// A language of the tenant's own pages. The platform's messages are English, as its own are.
enum DemoLanguage: String, Sendable, CaseIterable {
    case en, ja
    case brazilian = "pt-BR"
    case portuguese = "pt-PT"
    case sv
    case chinese = "zh-Hans"

    /// The language of the page that is being made.
    @TaskLocal static var current = DemoLanguage.en

    /// What the request asks for: `ui_locales` (OpenID Connect Core section 3.1.2.1), else the browser's languages, else
    /// English.
    ///
    /// - Parameter uiLocales: tags, the most wanted first, with spaces between them.
    init(uiLocales: String?, acceptLanguage: String?) {
        let wanted = uiLocales?.split(separator: " ").prefix(16).map(String.init) ?? []
        let accepted = Self.ordered(acceptLanguage ?? "")
        self = (wanted + accepted).lazy.compactMap(Self.init(serving:)).first ?? .en
    }

    /// The members of `Accept-Language` (RFC 9110 section 12.5.4), the most wanted first.
    private static func ordered(_ field: String) -> [String] {
        let members = field.split(separator: ",").prefix(16).map { member in
            let parts = member.split(separator: ";").map { $0.trimmingPrefix { $0 == " " } }
            let weight = parts.dropFirst().first.flatMap { $0.hasPrefix("q=") ? Double($0.dropFirst(2)) : nil } ?? 1
            return (tag: parts.first.map(String.init) ?? "", weight: weight)
        }
        return members.enumerated().filter { $0.element.weight > 0 }
            .sorted { ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset) }.map(\.element.tag)
    }

    /// The language that serves a tag, as `pt-BR` serves `pt`.
    private init?(serving tag: String) {
        let subtags = tag.lowercased().split(separator: "-")
        switch subtags.first {
        case "en": self = .en
        case "ja": self = .ja
        case "sv": self = .sv
        case "zh": self = .chinese
        case "pt": self = subtags.count == 1 || subtags[1] == "br" ? .brazilian : .portuguese
        default: return nil
        }
    }
}

extension HTML {
    /// One of the tenant's sentences in the language of the page, with values in the places of `%@`: text is escaped, HTML
    /// is not.
    init(saying english: String, _ values: HTML...) {
        guard let sentence = DemoLanguage.translated(english) else {
            // A name, as of an account.
            self = values.isEmpty ? "\(english)" : HTML(english, values)
            return
        }
        self.init(sentence, values)
    }

    private init(_ sentence: String, _ values: [HTML]) {
        let parts = sentence.components(separatedBy: "%@")
        var text = parts.first ?? ""
        for (index, part) in parts.dropFirst().enumerated() {
            text += (values.indices.contains(index) ? values[index].text : "") + part
        }
        self.init(stringLiteral: text)
    }
}

extension DemoLanguage {
    /// One of the tenant's sentences in the language of the page; nil for what is none of them.
    static func translated(_ english: String) -> String? {
        guard let translations = texts[english] ?? controlTexts[english] else { return nil }
        guard current != .en, let place = allCases.dropFirst().firstIndex(of: current) else { return english }
        return translations[place - 1]
    }
}
