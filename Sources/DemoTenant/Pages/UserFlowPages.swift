import WebFormats

/// B2C's edit-profile page.
struct ProfilePage: Page {
    let form: SignInForm
    let client: DemoClient
    let account: DemoAccount
    let name: String
    let notice: SignIn.Notice?

    var title: HTML { "Edit your profile" }

    var content: HTML {
        let wrong: HTML = notice == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"notice\""
        let field: HTML = """
            <label for="display_name">\(HTML(saying: "Display name"))</label>
            <input id="display_name" name="display_name" type="text" autocomplete="name" maxlength="64" required \
            value="\(name)"\(wrong)>
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

/// B2C's page for a forgotten password. The real one sends a code by e-mail first.
struct NewPasswordPage: Page {
    let form: SignInForm
    let client: DemoClient
    let account: DemoAccount

    var title: HTML { "Set a new password" }

    private let note: HTML =
        "A real tenant would now verify your e-mail address. Here any new password is accepted and not kept: the "
        + "password of every demo account is still %@."

    var content: HTML {
        let field: HTML = """
            <input hidden value="\(account.username)" autocomplete="username">
            <label for="new_password">\(HTML(saying: "New password"))</label>
            <input id="new_password" name="new_password" type="password" autocomplete="new-password" required autofocus>
            <button class="primary wide">\(HTML(saying: "Continue"))</button>
            """
        return """
            \(account.chip)
            <h1>\(HTML(saying: "Set a new password"))</h1>
            <p>\(HTML(saying: note, .demoPassword))</p>
            \(form(field))
            \(form(.cancel))
            """
    }
}

/// The page for creating an account, for customers.
struct SignUpPage: Page {
    let form: SignInForm
    let client: DemoClient
    let notice: SignIn.Notice?

    var title: HTML { "Create an account" }

    var content: HTML {
        let wrong: HTML = notice == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"notice\""
        let fields: HTML = """
            <label for="new_username">\(HTML(saying: "E-mail address"))</label>
            <input id="new_username" name="new_username" type="text" inputmode="email" autocomplete="username" \
            autocapitalize="none" spellcheck="false" required placeholder="casey@customer.example"\(wrong)>
            <label for="display_name">\(HTML(saying: "Display name"))</label>
            <input id="display_name" name="display_name" type="text" autocomplete="name" maxlength="64" required>
            <button class="primary wide">\(HTML(saying: "Create the account"))</button>
            """
        return """
            <h1>\(HTML(saying: "Create an account"))</h1>
            <p class="lead">\(HTML(saying: "to continue to <strong>%@</strong>", "\(client.name)"))</p>
            \(notice?.html ?? "")
            \(form(fields))
            <p class="small">\(HTML(
                saying: "No e-mail is sent. The account’s password is %@, as for every account.", .demoPassword))</p>
            \(form(.otherAccount))
            """
    }
}
