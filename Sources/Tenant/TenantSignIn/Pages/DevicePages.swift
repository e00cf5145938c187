import TenantDirectory
import WebFormats

/// Asks for the code that a device shows.
struct DeviceCodePage: Page {
    let form: SignInForm
    let refusal: DeviceLogin.Refusal?

    var title: HTML { "Enter code" }

    var content: HTML {
        let field: HTML = """
            <label for="user_code">\(HTML(saying: "Code"))</label>
            <input id="user_code" name="user_code" type="text" autocomplete="off" autocapitalize="characters" \
            spellcheck="false" required autofocus\(HTML.invalid(refusal != nil))>
            <button class="primary wide">\(HTML(saying: "Next"))</button>
            """
        return """
            <h1>\(HTML(saying: "Enter code"))</h1>
            <p class="lead">\(HTML(saying: "Enter the code that your app or device shows."))</p>
            \(refusal?.html ?? "")
            \(form(field))
            """
    }
}

extension DeviceLogin.Refusal {
    fileprivate var html: HTML {
        "<p class=\"notice\" id=\"notice\" role=\"alert\">\(message) <code>AADSTS\(rawValue)</code></p>"
    }

    private var message: HTML {
        switch self {
        case .unknown: HTML(saying: "That code is not correct. Check it and enter it again.")
        case .expired: HTML(saying: "That code has expired. Get a new code on your device.")
        case .missing: HTML(saying: "Enter a code.")
        case .finished: HTML(saying: "That code has already been used. Get a new code on your device.")
        case .tooMany: HTML(saying: "You tried too many codes. Wait a minute and try again.")
        }
    }
}

/// Names the application that gets the tokens, before anything else is asked: the code may be another person's.
struct DeviceConfirmPage: Page {
    let form: SignInForm
    let client: DemoClient

    var title: HTML { "Confirm sign-in" }

    private let warning: HTML =
        "Continue only if you requested the code yourself, in an app or on a device that you trust. If someone sent you "
        + "the code, cancel: otherwise they get access to your account."

    var content: HTML {
        let buttons: HTML = """
            <div class="row end">
            <button name="confirm" value="cancel">\(HTML(saying: "Cancel"))</button>
            <button class="primary" name="confirm" value="continue">\(HTML(saying: "Continue"))</button>
            </div>
            """
        return """
            <h1>\(HTML(saying: "Are you trying to sign in to %@?", "\(client.name)"))</h1>
            <p>\(HTML(saying: warning))</p>
            \(form(buttons))
            """
    }
}

/// The end of a sign-in for a device.
struct DeviceDonePage: Page {
    let client: DemoClient

    var title: HTML { "You’re signed in" }

    var content: HTML {
        """
        <h1>\(HTML(saying: title))</h1>
        <p>\(HTML(
            saying: "You have signed in to <strong>%@</strong> on your device. You can close this page.",
            "\(client.name)"))</p>
        """
    }
}

/// The end of a sign-in for a device that the person, or a rule, has refused.
struct DeviceDeclinedPage: Page {
    let client: DemoClient

    var title: HTML { "Sign-in cancelled" }

    var content: HTML {
        """
        <h1>\(HTML(saying: title))</h1>
        <p>\(HTML(
            saying: "You are not signed in to <strong>%@</strong>. You can close this page.", "\(client.name)"))</p>
        """
    }
}
