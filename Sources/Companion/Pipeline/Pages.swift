import HTTPServer

/// The pages by request path, in memory: home, one for each application, and what they load.
struct Pages: Sendable {
    let errorPage: ErrorPage
    private let assets: [String: Asset]

    /// Loads the folder once.
    ///
    /// - Throws: when the folder or one of its pages cannot be read.
    init(folder: String, applications: [Application]) throws {
        let files = try StaticFiles(folder: folder)
        errorPage = try ErrorPage(folder: folder)
        var assets: [String: Asset] = [:]
        for path in files.paths where path.hasPrefix("/assets/") || path == "/favicon.ico" {
            assets[path] = files[path]
        }
        let pages =
            [("/", "index"), ("/auth/signed-out", "signed-out")] + applications.map { ("/\($0.id)", $0.page.rawValue) }
        for (path, page) in pages {
            guard let asset = files["/\(page).html"] else { throw MissingPage(page: page, folder: folder) }
            assets[path] = asset
        }
        self.assets = assets
    }

    subscript(path: String) -> Asset? { assets[path] }

    /// A page that the folder should have.
    struct MissingPage: Error, CustomStringConvertible {
        let page: String
        let folder: String

        var description: String { "The folder \(folder) has no \(page).html; --public names the folder of pages." }
    }
}
