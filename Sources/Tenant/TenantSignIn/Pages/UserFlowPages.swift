import TenantDirectory
import WebFormats

/// B2C's edit-profile page.
struct ProfilePage: Page {
    let form: SignInForm
    let client: DemoClient
    let account: DemoAccount
    let name: String
    let notice: SignInNotice?

    var title: HTML { "Edit your profile" }

    var content: HTML {
        let field: HTML = """
            <label for="display_name">\(HTML(saying: "Display name"))</label>
            <input id="display_name" name="display_name" type="text" autocomplete="name" maxlength="64" required \
            value="\(name)"\(HTML.invalid(notice != nil))>
            <button class="primary wide">\(HTML(saying: "Continue"))</button>
            """
        return """
            \(account.chip)
            <h1>\(HTML(saying: "Edit your profile"))</h1>
            <p class="lead">\(HTML(saying: "for <strong>%@</strong>", "\(client.name)"))</p>
            \(notice?.html ?? "")
            \(form(field))
            \(form(.cancel))
            """
    }
}

/// Asks for the code that was sent to an address, with the words of B2C's pages (ver_info_msg, ver_input, ver_but_verify,
/// ver_but_resend).
struct CodePage: Page {
    let form: SignInForm
    let client: DemoClient
    let code: PageCode
    let notice: SignInNotice?
    let isInOutbox: Bool
    let canCancel: Bool

    var title: HTML { "Enter code" }

    private let lead: HTML =
        "Verification code has been sent to your inbox. Please copy it to the input box below."

    private let place: HTML = "No e-mail leaves this computer. The code is in the %@."

    var content: HTML {
        let field: HTML = """
            <label for="code">\(HTML(saying: "Verification code"))</label>
            <input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" required \
            autofocus\(HTML.invalid(notice != nil))>
            <button class="primary wide">\(HTML(saying: "Verify code"))</button>
            """
        let again: HTML = """
            <p class="aside"><button class="link" name="send_again" value="1">\(HTML(saying: "Send new code"))</button></p>
            """
        let address = "/outbox".appending(query: [("to", code.address), ("ui_locales", DemoLanguage.tag)])
        let outbox: HTML =
            "<a href=\"\(address)\" target=\"_blank\" rel=\"noopener\">\(HTML(saying: "outbox"))</a>"
        return """
            <p class="chip"><span class="avatar" aria-hidden="true">\(code.address.prefix(1).uppercased())</span> \
            <span>\(code.address)</span></p>
            <h1>\(HTML(saying: title))</h1>
            <p>\(HTML(saying: lead))</p>
            \(notice?.html ?? "")
            \(form(field))
            \(isInOutbox ? "<p class=\"tip\">\(HTML(saying: place, outbox))</p>" as HTML : "")
            \(form(again))
            \(form(canCancel ? .cancel : .otherAccount))
            """
    }
}

/// Asks for a new password, once the address is confirmed.
struct NewPasswordPage: Page {
    let form: SignInForm
    let client: DemoClient
    let account: DemoAccount
    let notice: SignInNotice?
    /// Whether the new password is in force from now on.
    let isKept: Bool
    let canCancel: Bool

    var title: HTML { "Set a new password" }

    private var note: HTML {
        if isKept {
            return HTML(
                saying:
                    "At least 8 characters of three kinds: small and capital letters, digits, symbols. No part of your "
                    + "name.")
        }
        return account.isConfigured
            ? HTML(saying: "Here any new password is accepted and not kept.")
            : HTML(
                saying:
                    "Here any new password is accepted and not kept: the password of every demo account is still %@.",
                .demoPassword)
    }

    var content: HTML {
        let field: HTML = """
            <input hidden value="\(account.username)" autocomplete="username">
            <label for="new_password">\(HTML(saying: "New password"))</label>
            <input id="new_password" name="new_password" type="password" autocomplete="new-password" required \
            autofocus\(HTML.invalid(notice != nil))>
            <button class="primary wide">\(HTML(saying: "Continue"))</button>
            """
        return """
            \(account.chip)
            <h1>\(HTML(saying: title))</h1>
            <p>\(note)</p>
            \(notice?.html ?? "")
            \(form(field))
            \(form(canCancel ? .cancel : .otherAccount))
            """
    }
}

extension PasswordRefusal {
    /// The reason, for the person.
    var sentence: HTML {
        switch self {
        case .tooShort: "The password is too short."
        case .tooLong: "The password is too long."
        case .invalid: "The password has characters that are not allowed."
        case .banned: "The password contains a word that is too easy to guess, such as your name."
        case .recentlyUsed: "You have used this password before. Choose another one."
        case .tooWeak: "The password is too weak."
        }
    }
}

/// The page for creating an account, for customers.
struct SignUpPage: Page {
    let form: SignInForm
    let client: DemoClient
    let notice: SignInNotice?
    /// Whether the person will sign in with a code instead of a password.
    let signsInWithCode: Bool

    var title: HTML { "Create an account" }

    var content: HTML {
        let fields: HTML = """
            <label for="new_username">\(HTML(saying: "E-mail address"))</label>
            <input id="new_username" name="new_username" type="text" inputmode="email" autocomplete="username" \
            autocapitalize="none" spellcheck="false" required placeholder="casey@customer.example"\(HTML.invalid(notice != nil))>
            <label for="display_name">\(HTML(saying: "Display name"))</label>
            <input id="display_name" name="display_name" type="text" autocomplete="name" maxlength="64" required>
            <button class="primary wide">\(HTML(saying: "Create the account"))</button>
            """
        let password: HTML = """
            <p class="small">\(HTML(
                saying: "The account’s password is %@, as for every account.", .demoPassword))</p>
            """
        return """
            <h1>\(HTML(saying: "Create an account"))</h1>
            <p class="lead">\(HTML(saying: "to continue to <strong>%@</strong>", "\(client.name)"))</p>
            \(notice?.html ?? "")
            \(form(fields))
            \(signsInWithCode ? "" : password)
            \(form(.otherAccount))
            """
    }
}
