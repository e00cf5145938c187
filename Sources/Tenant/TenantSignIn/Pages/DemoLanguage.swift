package import Languages
package import WebFormats

/// The language of the page that is being made. The platform's error messages are in English, like the real platform's.
package enum DemoLanguage {
    /// The language; nil for English.
    @TaskLocal package static var current: Language?

    package static var tag: String { current?.tag ?? Languages.sourceTag }
}

extension Languages {
    /// Returns the language of a request: `ui_locales` (OpenID Connect Core section 3.1.2.1), the browser's languages,
    /// or English.
    ///
    /// - Parameter uiLocales: tags in order of preference, separated by spaces.
    package func language(uiLocales: String?, acceptLanguage: String?) -> Language {
        uiLocales.flatMap { lookup($0.replacing(" ", with: ",")) } ?? acceptLanguage.flatMap(lookup) ?? source
    }
}

extension HTML {
    /// Returns one of the tenant's sentences in the language of the page, with values in place of `%@`.
    package init(saying english: HTML, _ values: HTML...) {
        let sentence = DemoLanguage.current?.text(english.text) ?? english.text
        self.init(stringLiteral: Message.filled(sentence, with: values.map(\.text)))
    }
}
