import Languages
import WebFormats

/// The language of the page that is being made. The platform's messages are English, as its own are.
enum DemoLanguage {
    /// Nil for English.
    @TaskLocal static var current: Language?

    static var tag: String { current?.tag ?? Languages.sourceTag }
}

extension Languages {
    /// What a request asks for: `ui_locales` (OpenID Connect Core section 3.1.2.1), else the browser's languages, else
    /// English.
    ///
    /// - Parameter uiLocales: tags, the most wanted first, with spaces between them.
    func language(uiLocales: String?, acceptLanguage: String?) -> Language {
        uiLocales.flatMap { lookup($0.replacing(" ", with: ",")) } ?? acceptLanguage.flatMap(lookup) ?? source
    }
}

extension HTML {
    /// One of the tenant's sentences in the language of the page, with values in the places of `%@`.
    init(saying english: HTML, _ values: HTML...) {
        let sentence = DemoLanguage.current?.text(english.text) ?? english.text
        self.init(stringLiteral: Message.filled(sentence, with: values.map(\.text)))
    }
}
