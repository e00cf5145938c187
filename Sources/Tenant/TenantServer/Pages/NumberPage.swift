import Languages
import Synchronization
import TenantSignIn
import WebFormats

/// The page to which `error_uri` leads: what the table of the companion's pages says about a number.
struct NumberPage: Page {
    let code: Int
    let cause: String
    let remedy: String

    var title: HTML { "Error Code" }

    var content: HTML {
        let microsofts = "https://login.microsoftonline.com/error?code=\(code)"
        return """
            <h1>AADSTS\(code)</h1>
            <p class="lead">\(cause)</p>
            <p>\(remedy)</p>
            <p class="small"><a href="\(microsofts)" rel="noreferrer">\(microsofts)</a></p>
            """
    }
}

/// The table of numbers in the languages of the companion's pages, read when somebody asks for the first time.
final class NumberTable: Sendable {
    private let publicFolder: String
    private let languages = Mutex<Languages?>(nil)

    init(publicFolder: String) { self.publicFolder = publicFolder }

    /// Returns the page about a number; nil for one that the table does not have.
    func page(about code: Int, uiLocales: String?, acceptLanguage: String?) -> NumberPage? {
        let known = languages.withLock { known in
            known = known ?? (try? Languages(publicFolder: publicFolder, cookieName: ""))
            return known
        }
        return known?.language(uiLocales: uiLocales, acceptLanguage: acceptLanguage).meaning(of: "AADSTS\(code)").map {
            NumberPage(code: code, cause: $0.cause, remedy: $0.remedy)
        }
    }
}
