import HTTPTypes
import WebFormats

/// The page of an address that began in another browser, or in this one before its cookies were removed.
struct OtherBrowserPage: Page {
    var title: HTML { "Start again" }
    var status: HTTPResponse.Status { .badRequest }
    var ended: [(name: String, value: String)]? { [] }

    private let explanation: HTML =
        "This page belongs to a sign-in or sign-out in another browser, or this browser does not keep cookies. Go back "
        + "to the application and start again there."

    var content: HTML {
        """
        <h1>\(HTML(saying: "Start again"))</h1>
        <p class="notice" role="alert">\(HTML(saying: explanation))</p>
        """
    }
}
