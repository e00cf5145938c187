import TenantDirectory
import WebFormats

/// The page that asks for consent.
struct ConsentPage: Page {
    let scopes: Scopes
    let form: SignInForm
    let client: DemoClient
    let account: DemoAccount
    let request: DemoAuthorizationRequest

    private var isForEveryone: Bool { request.purpose == .adminConsent }

    var title: HTML { "Permissions requested" }

    private let onBehalf: HTML = "You consent on behalf of your organization. No one else at Contoso will be asked."
    private let meaning: HTML =
        "By accepting, you allow this application to use your data as described. The demo asks once for each "
        + "application and account."

    var content: HTML {
        let buttons: HTML = """
            <div class="row end">
            <button name="consent" value="cancel">\(HTML(saying: "Cancel"))</button>
            <button class="primary" name="consent" value="accept">\(HTML(saying: "Accept"))</button>
            </div>
            """
        let scope: HTML =
            isForEveryone
            ? "<p class=\"notice calm\">\(HTML(saying: onBehalf))</p>" : ""
        return """
            \(account.chip)
            <h1>\(HTML(saying: "Permissions requested"))</h1>
            <p class="application">\(client.name)</p>
            <p class="lead">\(HTML(saying: "This application would like to:"))</p>
            <ul class="permissions">\(titles.map { "<li>\(HTML(saying: $0))</li>" as HTML })</ul>
            \(scope)
            <p class="small">\(HTML(saying: meaning))</p>
            \(form(buttons))
            """
    }

    private var titles: [HTML] {
        var titles = Scopes.graphScopes(request.scopes).compactMap { scopes.permission($0)?.title }
        if request.scopes.contains("profile"), !titles.contains("Sign you in and read your profile") {
            titles.append("View your basic profile")
        }
        if request.scopes.contains("email") { titles.append("View your email address") }
        if request.scopes.contains("offline_access") {
            titles.append("Maintain access to data you have given it access to")
        }
        if titles.isEmpty { titles.append("Sign you in") }
        return titles
    }
}

/// The page for an application that only an administrator can approve.
struct AdministratorPage: Page {
    let form: SignInForm
    let client: DemoClient
    let account: DemoAccount
    let request: DemoAuthorizationRequest

    var title: HTML { "Need admin approval" }

    var content: HTML {
        let back: HTML = """
            <button name="consent" value="cancel">\
            \(HTML(saying: "Return to the application without granting consent"))</button>
            """
        return """
            \(account.chip)
            <h1>\(HTML(saying: "Need admin approval"))</h1>
            \(request.purpose == .adminConsent ? "<p class=\"application\">\(client.name)</p>" as HTML : "")
            <p>\(reason)</p>
            \(form(back))
            \(form(.otherAccount))
            """
    }

    private var reason: HTML {
        switch request.purpose {
        case .code, .device, .social:
            """
            \(HTML(
                saying: "<strong>%@</strong> needs permission to access resources in your organization that only an "
                    + "admin can grant. Ask an admin to grant permission to this app before you can use it.",
                "\(client.name)")) <code>AADSTS90094</code>
            """
        case .adminConsent:
            HTML(
                saying: "Only an administrator can consent for the whole organization, and <strong>%@</strong> is "
                    + "not one. In this demo, <strong>adele@contoso.example</strong> is.", "\(account.username)")
        }
    }
}
