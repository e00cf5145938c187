import HTTPTypes
import HTTPWire
import TenantControl
import TenantSignIn
import WebFormats

/// The page for other machines while the tenant's accounts have passwords that everyone knows.
struct OtherMachinePage: Page {
    var title: HTML { "For this machine only" }
    var status: HTTPResponse.Status { .forbidden }
    var footLink: HTML { "" }

    private let reason: HTML =
        "Everyone knows the passwords of this tenant’s accounts, so it serves only the machine on which it runs."
    private let container: HTML =
        "In a container, publish its ports for the machine alone, as in <code>docker run -p 127.0.0.1:8443:8443</code>, and "
        + "open it as <code>localhost</code> there."
    private let others: HTML =
        "To serve other machines, start <code>companion tenant</code> with <code>--listen</code> and with users and a "
        + "<code>control_token</code> in a file for <code>--config</code>."

    var content: HTML {
        """
        <h1>\(HTML(saying: title))</h1>
        <p>\(HTML(saying: reason))</p>
        <p>\(HTML(saying: container))</p>
        <p>\(HTML(saying: others))</p>
        """
    }

    /// The same for programs.
    static let json: Response = .json(
        .forbidden,
        [
            "error": "other_machine",
            "message": .string(
                "Everyone knows the passwords of this tenant's accounts, so it serves only the machine on which it runs. "
                    + "Publish a container's ports at 127.0.0.1. To serve other machines, start companion tenant with "
                    + "--listen and with users and a control_token in a file for --config."),
        ])
}
