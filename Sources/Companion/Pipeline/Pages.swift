import Foundation
import HTTPServer
import HTTPTypes
import HTTPWire

/// The pages by request path, in memory and in every language: home, one for each application, and what they load.
struct Pages: Sendable {
    /// One page in all languages.
    struct Page: Sendable {
        private let assets: [Asset]

        init(assets: [Asset]) { self.assets = assets }

        subscript(language: Language) -> Asset { assets[language.index] }
    }

    private let assets: [String: Asset]
    private let pages: [String: Page]
    private let errorPages: [String]
    private let publicURL: PublicURL
    let languages: Languages

    /// Loads the folder once.
    ///
    /// - Throws: when the folder or one of its pages cannot be read, or a language lacks a text.
    init(folder: String, applications: [Application], languages: Languages, publicURL: PublicURL) throws {
        self.publicURL = publicURL
        self.languages = languages
        let files = try StaticFiles(folder: folder)
        var assets: [String: Asset] = [:]
        for path in files.paths where path.hasPrefix("/assets/") || path == "/favicon.ico" {
            assets[path] = files[path]
        }
        // What scripts fetch when it is first needed.
        for language in languages.all {
            for (section, texts) in language.sections {
                assets["/assets/texts/\(language.tag)/\(section).json"] = Asset(
                    body: Array(PageTemplate.json(texts).utf8), contentType: "application/json",
                    fields: [.contentLanguage: language.tag])
            }
        }
        self.assets = assets
        func template(_ name: String) throws -> PageTemplate {
            try PageTemplate(file: "\(name).html", html: html(name)) { try html("parts/\($0)") }
        }
        func html(_ name: String) throws -> String {
            guard let asset = files["/\(name).html"] else { throw MissingPage(page: name, folder: folder) }
            return String(decoding: asset.body, as: UTF8.self)
        }
        let names =
            [("/", "index"), ("/auth/signed-out", "signed-out")] + applications.map { ("/\($0.id)", $0.page.rawValue) }
        pages = try Dictionary(
            names.map { path, name in
                let template = try template(name)
                // A kiosk's page is not brought back by the browser as somebody left it.
                let cacheControl = name == Application.Page.kiosk.rawValue ? "no-store" : "no-cache"
                let assets = try languages.all.map { language in
                    Asset(
                        body: Array(try template.html(in: language, below: publicURL.prefix).utf8),
                        contentType: Pages.htmlType,
                        cacheControl: cacheControl, fields: Pages.fields(language))
                }
                return (path, Page(assets: assets))
            }
        ) { first, _ in first }
        let error = try template("error")
        errorPages = try languages.all.map { try error.html(in: $0, below: publicURL.prefix) }
    }

    private static let htmlType = "text/html; charset=utf-8"

    private static func fields(_ language: Language) -> HTTPFields {
        [.contentLanguage: language.tag, .vary: "Accept-Language, Cookie"]
    }

    /// A style, script or picture.
    func asset(_ path: String) -> Asset? { assets[path] }

    /// A page.
    func page(_ path: String) -> Page? { pages[path] }

    /// A problem as a page, for a browser that navigated here.
    func errorPage(_ problem: Problem, in language: Language) -> Response {
        let label: Message = problem.action == nil ? "Back to the start" : "Sign in again"
        let html = PageTemplate.filled(
            errorPages[language.index],
            with: [
                "title": language.text(problem.title), "detail": problem.detail(in: language),
                "code": problem.code.rawValue, "correlation_id": problem.correlationID ?? "–",
                "retry_after": problem.retryAfter.map(String.init) ?? "",
                "action_url": problem.action?.url ?? publicURL.homePath, "action_label": language.text(label),
            ])
        var fields = Pages.fields(language)
        fields[.contentType] = Pages.htmlType
        fields[.cacheControl] = "no-store"
        fields[.retryAfter] = problem.retryAfter.map(String.init)
        return Response(status: problem.status, headerFields: fields, body: Array(html.utf8))
    }

    /// A page that the folder should have.
    struct MissingPage: Error, CustomStringConvertible {
        let page: String
        let folder: String

        var description: String { "The folder \(folder) has no \(page).html; --public names the folder of pages." }
    }
}
