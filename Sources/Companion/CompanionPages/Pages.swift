package import CompanionCore
package import HTTPServer
import HTTPTypes
package import HTTPWire
package import Languages

/// The pages by request path, in memory and in every language: the home page, one page for each application, and
/// their assets.
///
/// The files are read once. A page is assembled at its first request in a language.
package struct Pages: Sendable {
    /// One page in all languages.
    package struct Page: Sendable {
        private let assets: [LazyAsset]

        init(assets: [LazyAsset]) { self.assets = assets }

        package subscript(language: Language) -> Asset { assets[language.index].asset }
    }

    private let assets: StaticFiles
    private let texts: [String: LazyAsset]
    private let configured: [String: Asset]
    private let pages: [String: Page]
    private let error: Page
    private let publicURL: PublicURL
    package let languages: Languages

    /// Loads the folder.
    ///
    /// - Parameters:
    ///   - files: what ``files(in:)`` gave of the folder; nil reads it.
    ///   - templates: those that other servers have made of the same files and languages.
    ///   - content: the content that depends on the configuration; nil keeps its placeholders.
    ///   - compression: compresses assets after their first request.
    /// - Throws: if the folder or one of its pages cannot be read, or a language lacks a text.
    package init(
        folder: String, files: StaticFiles? = nil, templates: PageTemplates = PageTemplates(),
        applications: [Application], languages: Languages,
        publicURL: PublicURL, content: FixedContent? = nil, compression: AssetCompression
    ) throws {
        self.publicURL = publicURL
        self.languages = languages
        let files = try files ?? Pages.files(in: folder)
        assets = files.only(Pages.isAsset)
        texts = Pages.texts(languages, compression)
        configured = content?.assets ?? [:]
        func html(_ name: String) throws -> String {
            guard let asset = files["/\(name).html"] else { throw MissingPage(page: name, folder: folder) }
            return files.rewritten(String(decoding: asset.body, as: UTF8.self))
        }
        func page(_ name: String, for application: Application? = nil) throws -> Page {
            let isShared = content?.isOnSharedDevice == true
            let template = try templates.template("\(name), \(isShared)") {
                let template = try PageTemplate(file: "\(name).html", html: html(name)) { part in
                    content?.omits(part: part) == true ? "" : try html("parts/\(part)")
                }
                for language in languages.all { try template.check(language) }
                return template
            }
            // The browser must not restore the last person's state of a kiosk's page, or of any page on a shared device.
            let isLeftBehind = name == Application.Page.kiosk.rawValue || isShared
            let cacheControl = isLeftBehind ? "no-store" : "no-cache"
            return Page(
                assets: languages.all.map { language in
                    LazyAsset(compressedBy: compression) {
                        var html = template.checkedHTML(in: language, below: publicURL.prefix)
                        if let content {
                            html = content.filling(html, in: language, for: application) { files.rewritten($0) }
                        }
                        return Asset(
                            body: Array(html.utf8),
                            contentType: Pages.htmlType, cacheControl: cacheControl, mayBeCompressed: true,
                            fields: Pages.fields(language))
                    }
                })
        }
        // Applications with the same page and the same kind of platform share the HTML.
        func look(_ application: Application) -> String { "\(application.page) \(application.kind)" }
        let made = try Dictionary(applications.map { (look($0), $0) }) { first, _ in first }
            .mapValues { try page($0.page.rawValue, for: $0) }
        pages = try Dictionary(
            [("/", page(content?.isDemo == false ? "team" : "index")), ("/auth/signed-out", page("signed-out"))]
                + (Pages.native + (content?.isDemo == true ? Pages.demo : [])).map { ($0, try page($1)) }
                + applications.compactMap { application in made[look(application)].map { ("/\(application.id)", $0) } }
        ) { first, _ in first }
        error = try page("error")
    }

    /// Reads a folder, for one server or for several of one process.
    package static func files(in folder: String) throws(StaticFilesError) -> StaticFiles {
        try StaticFiles(folder: folder, servedAt: place, versionedBelow: assetPrefix)
    }

    /// The pages about native apps and about what the demo tenant has from the platform, by path.
    static let native = [
        ("/native", "native"), ("/native/map", "native-map"), ("/native/case", "native-case"), ("/truth", "truth"),
        ("/paste", "paste"),
    ]

    /// Where what stood at an address that people may have kept is now.
    package static let moved = ["/native/lint": "/paste", "/native/explain": "/paste"]

    /// The pages that only the demo has.
    static let demo = [("/native/play", "native-play")]

    /// Returns the texts that scripts load when needed. Their paths are `/assets/texts/`, the version of the texts,
    /// the language and the section, whose name their keys do not repeat.
    private static func texts(_ languages: Languages, _ compression: AssetCompression) -> [String: LazyAsset] {
        let sections = languages.sections
        let paths = languages.all.flatMap { language in
            sections.map { section in
                let asset = LazyAsset(compressedBy: compression) {
                    let named = language.texts(of: [section]).map {
                        (String($0.key.dropFirst(section.count + 1)), $0.value)
                    }
                    return Asset(
                        body: Array(PageTemplate.json(Dictionary(named) { first, _ in first }).utf8),
                        contentType: "application/json",
                        cacheControl: StaticFiles.forever, mayBeCompressed: true,
                        fields: [.contentLanguage: language.tag])
                }
                return ("/assets/texts/\(language.version)/\(language.tag)/\(section).json", asset)
            }
        }
        return Dictionary(uniqueKeysWithValues: paths)
    }

    private static let assetPrefix = "/assets/"

    /// Returns the path at which a file of the folder is served: `/assets/scripts/base/page.js` for
    /// `scripts/base/page.js`. Pages and texts are not served as files.
    private static func place(_ path: String) -> String {
        let folder = path.split(separator: "/").first ?? ""
        return ["scripts", "styles", "pictures", "data", "projects"].contains(folder) ? "/assets" + path : path
    }

    private static func isAsset(_ path: String) -> Bool {
        path.hasPrefix(assetPrefix) || path == "/favicon.ico" || path == "/openapi.json"
    }

    private static let htmlType = "text/html; charset=utf-8"

    private static func fields(_ language: Language) -> HTTPFields {
        [.contentLanguage: language.tag, .vary: "Accept-Language, Cookie"]
    }

    /// Returns a style sheet, script or picture.
    package func asset(_ path: String) -> Asset? {
        Pages.isAsset(path) ? assets[path] ?? texts[path]?.asset ?? configured[path] : nil
    }

    /// Compresses the assets; see ``StaticFiles/compress(while:)``.
    func compress(while isWanted: () -> Bool) {
        assets.compress(while: isWanted)
        // By far the longest section would reach its first reader uncompressed.
        for (path, text) in texts where path.hasSuffix("/explain.json") && isWanted() { _ = text.asset }
    }

    /// The addresses of the pages that a person would type.
    package var paths: [String] { pages.keys.filter { !$0.hasPrefix("/auth/") } }

    /// Returns a page.
    package func page(_ path: String) -> Page? { pages[path] }

    /// Returns a problem as a page, for a browser that navigates.
    package func errorPage(_ problem: Problem, in language: Language) -> Response {
        let label: Message = problem.action == nil ? "Back to the start" : "Sign in again"
        let html = PageTemplate.filled(
            String(decoding: error[language].body, as: UTF8.self),
            with: [
                "title": language.text(problem.title), "detail": problem.detail(in: language),
                "provider_words": problem.providerWords.flatMap { words in
                    language.page["problem.provider_words"]?.replacing("{words}", with: words)
                } ?? "",
                "code": problem.code.rawValue, "correlation_id": problem.correlationID ?? "–",
                "staff_code": problem.staffCode,
                "retry_after": problem.retryAfter.map(String.init) ?? "",
                "action_url": problem.action?.url ?? publicURL.homePath, "action_label": language.text(label),
            ])
        var fields = Pages.fields(language)
        fields[.contentType] = Pages.htmlType
        fields[.cacheControl] = "no-store"
        fields[.retryAfter] = problem.retryAfter.map(String.init)
        var response = Response(status: problem.status, headerFields: fields, body: Array(html.utf8))
        response.endsConnection = problem.endsConnection
        return response
    }

    /// A page that is missing from the folder.
    struct MissingPage: Error, CustomStringConvertible {
        let page: String
        let folder: String

        var description: String { "The folder \(folder) has no \(page).html; --public names the folder of pages." }
    }
}
