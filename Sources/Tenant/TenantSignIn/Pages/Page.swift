package import HTTPTypes
package import HTTPWire
package import Languages
package import TenantDirectory
package import WebFormats

/// One page of the tenant.
package protocol Page {
    var title: HTML { get }
    var status: HTTPResponse.Status { get }
    /// The bar with the rooms; nil on the pages of a sign-in.
    var bar: HTML? { get }
    /// The content of `main`.
    var content: HTML { get }
    /// The content of `main` below the way out.
    var details: HTML { get }
    /// Additional content for the head of the document.
    var head: HTML { get }
    /// The class of `body`, which sets the layout.
    var layout: String { get }
    /// The link at the foot of the page.
    var footLink: HTML { get }
    /// The query with which the way out tells the companion of the sign-in that has ended here; nil on a page that leads on.
    var ended: [(name: String, value: String)]? { get }
}

extension Page {
    package var status: HTTPResponse.Status { .ok }
    package var bar: HTML? { nil }
    package var details: HTML { "" }
    package var head: HTML { "" }
    package var layout: String { "card-layout" }
    package var ended: [(name: String, value: String)]? { nil }
    package var footLink: HTML {
        "<a href=\"/control?ui_locales=\(DemoLanguage.tag)\">\(HTML(saying: "Failures on demand"))</a>"
    }
}

/// The layout of all pages.
package struct PageLayout: Sendable {
    package let languages: Languages
    /// The start page of a kiosk, at whose distance the pages are read; nil if the tenant is not at one.
    let kioskURL: String?
    /// The start page of the companion whose demo this is; nil if the tenant runs alone.
    private let homeURL: String?

    /// - Parameter publicFolder: The folder with the texts, in `languages/demo`.
    package init(publicFolder: String, kioskURL: String?, homeURL: String? = nil) throws(DemoTenantError) {
        do {
            languages = try Languages(folder: publicFolder + "/languages/demo", cookieName: "")
            try languages.requireSameSentences()
        } catch {
            throw .texts("\(error)")
        }
        (self.kioskURL, self.homeURL) = (kioskURL, homeURL)
    }

    /// With texts that have been read before.
    package init(languages: Languages, kioskURL: String?, homeURL: String?) {
        self.languages = languages
        (self.kioskURL, self.homeURL) = (kioskURL, homeURL)
    }

    /// Returns the link at the foot; the visitors of a kiosk are not led to the failures.
    private func footLink(_ page: any Page) -> HTML {
        kioskURL == nil ? page.footLink : ""
    }

    /// Leads to what the tenant was started with, and never to an address of the request.
    private func wayOut(_ ended: [(name: String, value: String)]) -> HTML {
        (kioskURL ?? homeURL?.appending(query: ended)).map {
            "<p><a class=\"back\" href=\"\($0)\">\(HTML(saying: "Back to Companion"))</a></p>"
        } ?? ""
    }

    private var brand: HTML {
        "<p class=\"brand\"><img src=\"/assets/demo-tenant.svg\" alt=\"\" width=\"24\" height=\"24\"> \(HTML(saying: "Demo tenant"))</p>"
    }

    /// The card stands in the middle: painted before its end had come, it would move up when it does.
    private var wholeFirst: HTML { "<link rel=\"expect\" href=\"#foot\" blocking=\"render\">" }

    /// Renders a page.
    ///
    /// - Parameter target: The redirect URI at which the page's form ends; nil if it ends here.
    package func page(_ page: any Page, leavingTo target: String? = nil) -> Response {
        let document: HTML = """
            <!DOCTYPE html>
            <html lang="\(DemoLanguage.tag)"\(kioskURL != nil ? " class=\"kiosk\"" as HTML : "")>
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(HTML(saying: page.title)) \u{2013} \(HTML(saying: "Demo tenant"))</title>
            <link rel="stylesheet" href="/assets/demo-tenant.css">
            \(page.bar == nil ? wholeFirst : "")
            <link rel="icon" href="/assets/demo-tenant.svg" type="image/svg+xml">
            <script src="/assets/restored.js" defer></script>
            \(page.head)</head>
            <body class="\(page.layout)">
            \(page.bar ?? "")
            <main>
            \(page.bar == nil ? brand : "")
            \(page.content)
            \(page.ended.map(wayOut) ?? "")
            \(page.details)
            </main>
            <footer id="foot">
            <p>\(HTML(
                saying: "A stand-in for an identity platform, on this computer only. No real account is involved."
            )) \(footLink(page))</p>
            </footer>
            </body>
            </html>

            """
        return .noStore(page.status, "text/html; charset=utf-8", Array(document.text.utf8))
            .with(.contentSecurityPolicy, target.map { PagePolicy.text(leavingTo: $0) })
    }
}

extension Response {
    /// Returns the response as one that says how soon to try again, and closes the connection: a new one costs those who
    /// guess more.
    package func ending(retryAfter seconds: Int) -> Response {
        var response = with(.retryAfter, String(seconds))
        response.endsConnection = true
        return response
    }
}

/// The common parts of a sign-in page's forms: the address, which keeps the language, and the hidden field with the
/// state of the sign-in.
struct SignInForm {
    let action: String
    let flow: String

    /// The address of the page that has this form.
    var address: String { action.appending(query: [("flow", flow), ("ui_locales", DemoLanguage.tag)]) }

    /// Returns a form that contains these elements.
    func callAsFunction(_ elements: HTML, style: String = "") -> HTML {
        """
        <form method="post" action="\(action)?ui_locales=\(DemoLanguage.tag)" class="\(style)">
        <input type="hidden" name="flow" value="\(flow)">
        \(elements)
        </form>
        """
    }
}

extension DemoAccount {
    private var initials: String { "\(givenName.prefix(1))\(surname.prefix(1))" }

    /// Returns a button that chooses the account.
    func button(isSignedIn: Bool = false) -> HTML {
        """
        <li><button class="account" name="username" value="\(username)">\
        <span class="avatar" aria-hidden="true">\(initials)</span>\
        <span class="who"><span class="name">\(displayName)</span><span class="username">\(username)</span>\
        <span class="hint">\(HTML(saying: hint))</span></span>\
        \(isSignedIn ? "<span class=\"badge\">\(HTML(saying: "Signed in"))</span>" as HTML : "")</button></li>

        """
    }

    /// Returns the account that a page is about.
    var chip: HTML {
        "<p class=\"chip\"><span class=\"avatar\" aria-hidden=\"true\">\(initials)</span> <span>\(username)</span></p>"
    }
}
