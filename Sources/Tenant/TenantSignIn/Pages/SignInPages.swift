import TenantDirectory
import WebFormats

/// Asks which account to sign in.
struct AccountPickerPage: Page {
    let form: SignInForm
    let client: DemoClient
    let accounts: [DemoAccount]
    let signedIn: Set<String>
    let notice: SignInNotice?
    var canCancel = false
    var canSignUp = false
    /// The social provider, on its own page.
    var provider: String?

    var title: HTML { "Pick an account" }

    var content: HTML {
        let sorted =
            accounts.filter { signedIn.contains($0.username) }
            + accounts.filter { !signedIn.contains($0.username) }
        let buttons = sorted.map { $0.button(isSignedIn: signedIn.contains($0.username)) }
        let list: HTML = "<ul class=\"accounts\">\n\(buttons)</ul>"
        let field: HTML = """
            <label for="username">\(HTML(saying: "Use another account"))</label>
            <div class="row">
            <input id="username" name="username" type="text" inputmode="email" autocomplete="username" \
            autocapitalize="none" spellcheck="false" required placeholder="name@contoso.example"\(HTML.invalid(notice != nil))>
            <button class="primary">\(HTML(saying: "Next"))</button>
            </div>
            """
        return """
            \(HTML.brand(provider))<h1>\(HTML(saying: "Pick an account"))</h1>
            <p class="lead">\(HTML(saying: "to continue to <strong>%@</strong>", "\(client.name)"))</p>
            \(notice?.html ?? "")
            \(form(list))
            \(form(field, style: "other"))
            \(canSignUp ? form(.atProvider) : "")
            \(canSignUp ? form(.signUp) : "")
            \(canCancel ? form(.cancel) : "")
            """
    }
}

/// Asks for the password. If it is `demo`, the page says so.
struct PasswordPage: Page {
    let form: SignInForm
    let client: DemoClient
    let account: DemoAccount
    /// The authentication context that asks a person who is signed in.
    var context: String?
    let notice: SignInNotice?
    /// Whether everyone knows the password.
    let isKnown: Bool
    var isUserFlow = false
    var canReset = false
    var canCancel = false
    /// The social provider, on its own page.
    var provider: String?

    var title: HTML { "Enter password" }

    var content: HTML {
        let field: HTML = """
            <input hidden value="\(account.username)" autocomplete="username">
            <label for="password">\(HTML(saying: "Password"))</label>
            <input id="password" name="password" type="password" autocomplete="current-password" required \
            autofocus\(HTML.invalid(notice != nil))>
            <button class="primary wide">\(HTML(saying: "Sign in"))</button>
            """
        let shortcut: HTML = """
            <p class="tip">\(HTML(saying: "Every demo account’s password is %@.", .demoPassword)) \
            <button class="link" name="password" value="demo">\(HTML(saying: "Use it"))</button></p>
            """
        return """
            \(HTML.brand(provider))\(account.chip)
            <h1>\(HTML(saying: "Enter password"))</h1>
            <p class="lead">\(HTML(saying: "to continue to <strong>%@</strong>", "\(client.name)"))</p>
            \(client.reason(for: context))
            \(notice?.html ?? "")
            \(form(field))
            \(isKnown ? form(shortcut) : "")
            \(isUserFlow || canReset ? form(.forgot) : "")
            \(isUserFlow ? "" : form(.otherAccount))
            \(canCancel ? form(.cancel) : "")
            """
    }
}

/// Asks for a second factor, as an authenticator app would.
struct SecondFactorPage: Page {
    let form: SignInForm
    let client: DemoClient
    let account: DemoAccount
    /// The authentication context that asks for it.
    let context: String?

    var title: HTML { "Approve sign-in request" }

    private let question: HTML =
        "Your organization requires a second factor before <strong>%@</strong> can continue. With a real account you would "
        + "now enter this number in your authenticator app. Here, approve it yourself."

    var content: HTML {
        let buttons: HTML = """
            <p class="number" aria-label="Number 42">42</p>
            <div class="row end">
            <button name="second_factor" value="cancel">\(HTML(saying: "I can’t approve"))</button>
            <button class="primary" name="second_factor" value="approve">\(HTML(saying: "Approve"))</button>
            </div>
            """
        return """
            \(account.chip)
            <h1>\(HTML(saying: "Approve sign-in request"))</h1>
            <p>\(HTML(saying: question, "\(client.name)"))</p>
            \(client.reason(for: context))
            \(form(buttons))
            """
    }
}

extension DemoClient {
    /// Returns the sentence that says why a person has to prove more than before.
    fileprivate func reason(for context: String?) -> HTML {
        guard let context else { return "" }
        let sentence = HTML(
            saying: "This part of <strong>%@</strong> needs an extra check (authentication context %@).", "\(name)",
            "\(context)")
        return "<p class=\"notice calm\">\(sentence)</p>"
    }
}

extension HTML {
    /// Returns the attributes of a field about whose content the page has a message.
    static func invalid(_ isInvalid: Bool) -> HTML {
        isInvalid ? " aria-invalid=\"true\" aria-describedby=\"notice\"" : ""
    }

    /// The link to a new account.
    static var signUp: HTML {
        """
        <p class="aside">\(HTML(saying: "No account?")) \
        <button class="link" name="sign_up" value="1">\(HTML(saying: "Create one"))</button></p>
        """
    }

    /// The button to the social provider.
    static var atProvider: HTML {
        "<p class=\"aside\"><button class=\"wide\" name=\"provider\" value=\"social\">"
            + HTML(saying: "Sign in with Contoso Social") + "</button></p>"
    }

    /// Returns the name of who asks, where that is not the tenant itself.
    static func brand(_ name: String?) -> HTML {
        name.map { "<p class=\"application\">\($0)</p>\n" as HTML } ?? ""
    }

    /// The password of every account.
    static let demoPassword: HTML = "<code>demo</code>"

    /// The button that cancels a B2C page.
    static var cancel: HTML {
        "<p class=\"aside\"><button class=\"link\" name=\"cancel\" value=\"1\">\(HTML(saying: "Cancel"))</button></p>"
    }

    /// The button that leaves a B2C password page for the user flow of a new password.
    static var forgot: HTML {
        """
        <p class="aside"><button class="link" name="forgot" value="1">\(HTML(saying: "Forgot your password?"))</button></p>
        """
    }

    /// The link back to the account picker.
    static var otherAccount: HTML {
        """
        <p class="aside"><button class="link" name="username" value="">\
        \(HTML(saying: "Sign in with another account"))</button></p>
        """
    }
}
