package import HTTPTypes
import TenantControl
package import TenantDirectory
package import WebFormats

/// An error that is not reported to the application, with the identifiers that support would ask for.
package struct ErrorPage: Page {
    let error: PlatformError
    let diagnostics: Diagnostics
    let client: DemoClient?

    package init(_ error: PlatformError, _ diagnostics: Diagnostics, client: DemoClient? = nil) {
        self.error = error
        self.diagnostics = diagnostics
        self.client = client
    }

    package var title: HTML { "Sorry, but we’re having trouble signing you in" }
    package var status: HTTPResponse.Status { error.status }
    package var ended: [(name: String, value: String)]? { diagnostics.ended(error.number) }

    package var content: HTML {
        """
        <h1>\(HTML(saying: "Sign in"))</h1>
        <p class="lead">\(HTML(saying: title))</p>
        <p class="notice" role="alert" lang="en">\(error.prefix)\(error.number): \(error.message)</p>
        """
    }

    package var details: HTML {
        diagnostics.troubleshooting(number: error.number, prefix: error.prefix, client: client)
    }
}

/// The page for a sign-in that a policy refuses.
struct BlockedPage: Page {
    let form: SignInForm
    let client: DemoClient
    let account: DemoAccount
    let diagnostics: Diagnostics

    var title: HTML { "You cannot access this right now" }
    var ended: [(name: String, value: String)]? { diagnostics.ended(53003) }

    private let criteria: HTML =
        "Your sign-in was successful but does not meet the criteria to access this resource. For example, you might be "
        + "signing in from a browser, app, or location that is restricted by your admin."

    var content: HTML {
        """
        \(account.chip)
        <h1>\(HTML(saying: "You cannot access this right now"))</h1>
        <p>\(HTML(saying: criteria))</p>
        <p class="small" lang="en">AADSTS53003: \(PlatformError.blockedByPolicy.message)</p>
        \(form(.otherAccount))
        """
    }

    var details: HTML { diagnostics.troubleshooting(number: 53003, client: client) }
}

/// The page for a person who is not assigned to an application that requires it.
struct UnassignedPage: Page {
    let form: SignInForm
    let client: DemoClient
    let account: DemoAccount
    /// The client, or the application whose API it asks for.
    let application: DemoClient
    let diagnostics: Diagnostics

    var title: HTML { "Sorry, but we’re having trouble signing you in" }
    private var error: PlatformError { .notAssigned(account, to: application) }
    var ended: [(name: String, value: String)]? { diagnostics.ended(error.number) }

    private let explanation: HTML =
        "Only people who are assigned to <strong>%@</strong> can use it. Ask an admin to assign your account, or a group "
        + "that you are a direct member of."

    var content: HTML {
        """
        \(account.chip)
        <h1>\(HTML(saying: title))</h1>
        <p>\(HTML(saying: explanation, "\(application.name)"))</p>
        <p class="small" lang="en">AADSTS\(error.number): \(error.message)</p>
        \(form(.otherAccount))
        """
    }

    var details: HTML { diagnostics.troubleshooting(number: error.number, client: client) }
}

extension Diagnostics {
    /// Returns what the companion explains to the tab that comes back.
    fileprivate func ended(_ number: Int) -> [(name: String, value: String)] {
        [("ended", "\(number)"), ("correlation_id", correlationID)]
    }

    /// Returns the troubleshooting details, as the real page lists them.
    fileprivate func troubleshooting(
        number: Int, prefix: String = PlatformError.workforcePrefix, client: DemoClient?
    ) -> HTML {
        let application: HTML =
            client.map {
                "<dt>\(HTML(saying: "App name"))</dt><dd>\($0.name)</dd>\n<dt>\(HTML(saying: "App ID"))</dt><dd>\($0.id)</dd>\n"
            } ?? ""
        ClientNote.change { $0.error = "\(prefix)\(number)" }
        return """
            <section class="details" aria-labelledby="troubleshooting">
            <h2 id="troubleshooting">\(HTML(saying: "Troubleshooting details"))</h2>
            <dl>
            <dt>\(HTML(saying: "Error Code"))</dt><dd>\(number)</dd>
            <dt>\(HTML(saying: "Trace ID"))</dt><dd>\(traceID)</dd>
            <dt>\(HTML(saying: "Correlation ID"))</dt><dd>\(correlationID)</dd>
            <dt>\(HTML(saying: "Timestamp"))</dt><dd>\(timestamp)</dd>
            \(application)</dl>
            </section>
            """
    }
}

/// Asks which account to sign out.
struct SignOutPickerPage: Page {
    /// The value of `username` that stands for all accounts.
    static let everyone = "all"

    let form: SignInForm
    let accounts: [DemoAccount]

    var title: HTML { "Pick an account to sign out of" }

    var content: HTML {
        let list: HTML = """
            <ul class="accounts">
            \(accounts.map { $0.button() })</ul>
            <button class="wide" name="username" value="\(Self.everyone)">\(HTML(saying: "Sign out of all accounts"))</button>
            """
        return """
            <h1>\(HTML(saying: "Pick an account"))</h1>
            <p class="lead">\(HTML(saying: "Which account do you want to sign out of?"))</p>
            \(form(list))
            """
    }
}

/// Confirms the sign-out if there is no page to return to.
struct SignedOutPage: Page {
    /// The usernames that are still signed in.
    let remaining: [String]

    var title: HTML { "You signed out of your account" }

    var content: HTML {
        let note: HTML =
            remaining.isEmpty
            ? HTML(saying: "It’s a good idea to close all browser windows.")
            : HTML(saying: "Still signed in: %@.", "\(remaining.joined(separator: ", "))")
        return "<h1>\(HTML(saying: title))</h1>\n<p>\(note)</p>"
    }
}

/// The page for a network from which too many wrong passwords came.
struct TooManyTriesPage: Page {
    var title: HTML { "Too many wrong passwords" }
    var status: HTTPResponse.Status { .tooManyRequests }

    var content: HTML {
        """
        <h1>\(HTML(saying: "Too many wrong passwords"))</h1>
        <p class="notice" role="alert">\(HTML(
            saying: "Too many wrong passwords came from your network. Wait a minute, go back and try again."))</p>
        """
    }
}

/// The page for an unknown address.
package struct NotFoundPage: Page {
    package init() {}

    package var title: HTML { "Not found" }
    package var status: HTTPResponse.Status { .notFound }
    package var content: HTML {
        """
        <h1>There is nothing here</h1>
        <p>The demo tenant answers at the addresses of an identity platform. \
        To make it fail on purpose, open <a href="/control">its control page</a>.</p>
        """
    }
}

/// Sends the response to the application as a form (OAuth 2.0 Form Post Response Mode). A script submits it at once;
/// without JavaScript, the person presses a button.
struct FormPostPage: Page {
    let action: String
    let fields: [(String, String)]

    var title: HTML { "Working" }
    var head: HTML { "<script src=\"/assets/form-post.js\" defer></script>\n" }

    var content: HTML {
        let inputs = fields.map { name, value in
            "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">\n" as HTML
        }
        return """
            <h1>Signed in</h1>
            <form method="post" action="\(action)" id="form-post">
            \(inputs)<button class="primary wide">Continue to the application</button>
            </form>
            """
    }
}
