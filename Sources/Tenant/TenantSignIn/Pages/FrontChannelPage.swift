import WebFormats

/// Notifies the applications of a sign-out through hidden frames, then continues. Without JavaScript, a link continues.
struct FrontChannelPage: Page {
    struct Frame: Sendable, Hashable, Codable {
        var address: String
        /// The application's origin, for the page's content security policy.
        var origin: String
    }

    let frames: [Frame]
    let returnURI: String?
    /// The usernames that are still signed in.
    let remaining: [String]

    init(_ outcome: LogoutOutcome) {
        frames = outcome.frames
        returnURI = outcome.returnURI
        remaining = outcome.remaining
    }

    var title: HTML { "You signed out of your account" }
    var head: HTML { returnURI == nil ? "" : "<script src=\"/assets/signed-out.js\" defer></script>\n" }

    var content: HTML {
        let hidden = frames.map { frame in
            "<iframe hidden title=\"Telling an application\" src=\"\(frame.address)\"></iframe>\n" as HTML
        }
        let note: HTML =
            remaining.isEmpty
            ? HTML(saying: "The applications are being notified.")
            : HTML(saying: "Still signed in: %@.", "\(remaining.joined(separator: ", "))")
        let link: HTML =
            returnURI.map {
                """
                <p><a id="continue" class="button" href="\($0)">\(HTML(saying: "Continue to the application"))</a></p>
                """
            } ?? ""
        return "<h1>\(HTML(saying: title))</h1>\n<p>\(note)</p>\n\(link)\n\(hidden)"
    }
}
