import HTTPServer

/// The files that the pages load.
enum Assets {
    static func make() -> [String: Asset] {
        [
            "demo-tenant.css": Asset(body: Array(StyleSheet.text.utf8), contentType: "text/css; charset=utf-8"),
            "demo-tenant.svg": Asset(body: Array(mark.utf8), contentType: "image/svg+xml"),
            "signed-out.js": Asset(body: Array(signedOut.utf8), contentType: "text/javascript; charset=utf-8"),
            "clients.js": Asset(body: Array(ClientsScript.text.utf8), contentType: "text/javascript; charset=utf-8"),
            "restored.js": Asset(body: Array(restored.utf8), contentType: "text/javascript; charset=utf-8"),
            "form-post.js": Asset(body: Array(formPost.utf8), contentType: "text/javascript; charset=utf-8"),
        ]
    }

    /// A key in a rounded square.
    private static let mark = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#2b5797"/>\
        <g fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round"><circle cx="9" cy="12" r="3.25"/>\
        <path d="M12.5 12H19v3M16 12v2.25"/></g></svg>
        """

    /// The page continues when its frames have loaded, which means that the applications have responded.
    private static let signedOut = """
        addEventListener("load", () => location.replace(document.getElementById("continue").href));

        """

    /// A page that the browser has kept for its Back button loads anew: without what was typed, and only while its
    /// sign-in goes on.
    private static let restored = """
        addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

        """

    private static let formPost = """
        document.getElementById("form-post").submit();

        """
}
