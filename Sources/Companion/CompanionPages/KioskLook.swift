import CompanionCore
import Cryptography
import HTTPServer
import Languages
import WebFormats

/// The organiser's design of a kiosk's pages: logo, colour and welcome texts.
struct KioskLook: Sendable {
    private let logo: (path: String, logo: KioskLogo)?
    private let styleSheet: (path: String, text: String)?
    private let welcome: [String: String]

    init(configuration: CompanionConfiguration) {
        logo = configuration.kioskLogo.map { (KioskLook.path("logo", "png", of: $0.bytes), $0) }
        styleSheet = configuration.kioskColor.map(\.styleSheet).map {
            (KioskLook.path("look", "css", of: Array($0.utf8)), $0)
        }
        welcome = configuration.kioskWelcome
    }

    /// Returns an asset path with the content's hash, so that browsers can cache it permanently.
    private static func path(_ name: String, _ type: String, of bytes: [UInt8]) -> String {
        "/assets/kiosk-\(name).\(Hex.encode(SHA256.hash(data: bytes).prefix(6))).\(type)"
    }

    /// Assets by path, beside those of the folder.
    var assets: [String: Asset] {
        func asset(_ bytes: [UInt8], _ type: String) -> Asset {
            Asset(body: bytes, contentType: type, cacheControl: StaticFiles.forever)
        }
        var assets: [String: Asset] = [:]
        if let logo { assets[logo.path] = asset(logo.logo.bytes, "image/png") }
        if let styleSheet { assets[styleSheet.path] = asset(Array(styleSheet.text.utf8), "text/css; charset=utf-8") }
        return assets
    }

    /// Returns the HTML for a page's placeholder; nil if it is not a kiosk's.
    ///
    /// - Parameters:
    ///   - prefix: the public URL's path.
    ///   - mark: the product's own logo, for a kiosk without one.
    func content(
        of place: Substring, in language: Language, below prefix: String, mark: () -> String
    ) -> HTML? {
        switch place {
        case "kiosk_look":
            styleSheet.map { "<link rel=\"stylesheet\" href=\"\(prefix)\($0.path)\">" } ?? ""
        case "kiosk_logo":
            logo.map { path, logo in
                "<img class=\"logo\" src=\"\(prefix)\(path)\" width=\"\(logo.width)\" height=\"\(logo.height)\" alt=\"\">"
            } ?? "<img src=\"\(prefix)\(mark())\" width=\"32\" height=\"32\" alt=\"\">"
        case "kiosk_welcome":
            "\(welcome[language.tag] ?? language.page["kiosk_page.attract_title"] ?? "")"
        default: nil
        }
    }
}
