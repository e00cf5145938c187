import Foundation
import TenantDirectory
import TenantSignIn
import WebFormats

/// The part of the page for people below the failures: what each client asked, as it happens.
struct ClientsSection {
    let journal: ClientJournal.Content
    /// Changes with what the page shows.
    let mark: String
    let names: [String: String]
    /// Whether clients reach the tenant over https, so that they have to trust its certificate.
    let isSecure: Bool
    /// The page of the companion that explains errors; nil if the tenant runs alone.
    let explainURL: String?

    /// The page shows so many of an application, and so many more each time that somebody wants older ones.
    private static let together = 20

    private let lead: HTML =
        "Your apps’ requests as they happen, newest first. A row contains no token, no code and no personal name. "
        + "The list is in memory and ends with this process."
    private let logNote: HTML =
        "Paste the app’s log. Its lines appear below the requests with the same correlation ID. They stay in this page."

    var content: HTML {
        """
        <section id="requests" aria-labelledby="requests-title">
        <h2 id="requests-title">\(HTML(saying: "Your apps’ requests"))</h2>
        <p class="lead">\(HTML(saying: lead))</p>
        <p class="row"><span id="count" role="status">\(HTML(saying: "Requests: %@", "\(journal.count)"))</span>
        <button id="pause" class="scripted" data-other="\(HTML(saying: "Continue"))">\(HTML(saying: "Pause"))</button></p>
        <details class="panel scripted" id="log-panel">
        <summary id="log-title">\(HTML(saying: "MSAL’s log"))</summary>
        <textarea id="log" rows="3" aria-labelledby="log-title" autocomplete="off" autocapitalize="none" spellcheck="false" \
        aria-describedby="log-note"></textarea>
        <p class="small" id="log-note">\(HTML(saying: logNote))</p>
        <p class="small" id="joined" role="status" \
        data-text="\(HTML(saying: "Lines of the log that belong to a request below: %@ of %@", "%1", "%2"))"></p>
        </details>
        <div id="live" data-mark="\(mark)">
        \(trust)
        \(groups)
        </div>
        \(steps)
        </section>
        """
    }

    /// A request of MSAL itself shows that its TLS handshake has succeeded. A browser's does not: a person may have
    /// accepted the certificate there.
    private var trust: HTML {
        guard isSecure else { return "" }
        if let first = journal.firstFromApp {
            let sentence = HTML(
                saying: "Your simulator or Mac trusts this certificate: %@ first connected at %@.",
                "\(first.library ?? "")", first.time.clock)
            return "<p class=\"notice calm\">\(sentence)</p>"
        }
        return """
            <section class="panel">
            <h3>\(HTML(saying: "No app with MSAL has connected yet"))</h3>
            <p>\(HTML(saying: untrusted))</p>
            <p>\(HTML(saying: insecure))</p>
            </section>
            """
    }

    private let untrusted: HTML =
        "If your app reports <code>-1202</code>, the simulator or Mac on which it runs does not trust the certificate of "
        + "this tenant. Install the root there, in each simulator separately, and start the app again. "
        + "<code>companion tenant trust</code> prints the commands."
    private let insecure: HTML =
        "If it reports <code>-1200</code>, no TLS connection was made. Check the port in the authority, and that the "
        + "server there is this one and was not started for plain HTTP."

    private var groups: HTML {
        let groups = journal.groups
        guard !groups.isEmpty else { return "<p>\(HTML(saying: "No requests yet."))</p>" }
        return "\(groups.enumerated().map { table($0.element, $0.offset) })"
    }

    private func table(_ group: ClientJournal.Group, _ index: Int) -> HTML {
        let name: HTML =
            group.clientID.map { id in
                names[id].map { "\($0) <code>\(id)</code>" as HTML } ?? "<code>\(id)</code>"
            } ?? HTML(saying: "Requests without a client ID")
        let library: HTML = group.library.map { "<p class=\"small\">\($0)</p>\n" } ?? ""
        let parts = stride(from: 0, to: group.requests.count, by: Self.together).map { start -> HTML in
            "<tbody>\n\(group.requests[start...].prefix(Self.together).map(row))</tbody>\n"
        }
        let older: HTML =
            parts.count > 1
            ? """
            <button class="older scripted" id="older-\(group.clientID ?? "")" aria-describedby="client-\(index)">\
            \(HTML(saying: "Show older"))</button>

            """ : ""
        // Nearly all of those that belong to no app are for metadata.
        let isNamed = group.clientID != nil
        let title: HTML = "<h3 id=\"client-\(index)\">\(name)</h3>"
        let count = HTML(saying: "Requests: %@", "\(group.requests.count)")
        return """
            \(isNamed ? "<section class=\"panel\">" : "<details class=\"panel\" id=\"unnamed\">" as HTML)
            \(isNamed ? title : "<summary>\(title) <span class=\"small\">\(count)</span></summary>")
            \(library)<div class="scroller" role="region" tabindex="0" aria-labelledby="client-\(index)">
            <table class="requests">
            <thead><tr><th scope="col">\(HTML(saying: "Time (UTC)"))</th><th scope="col">\(HTML(saying: "Step"))</th>\
            <th scope="col">\(HTML(saying: "Response"))</th><th scope="col">\(HTML(saying: "Request"))</th>\
            <th scope="col">ms</th></tr></thead>
            \(parts)</table>
            </div>
            \(older)\(isNamed ? "</section>" : "</details>" as HTML)

            """
    }

    private func row(_ request: ClientRequest) -> HTML {
        let correlation: HTML = request.correlationID.map { "<br><code class=\"small\">\($0)</code>" } ?? ""
        let error: HTML =
            request.error.map { "<br><span class=\"aadsts\">\(explanation($0, request.position))</span>" } ?? ""
        let status: HTML = request.status.map { "\($0)" } ?? HTML(saying: "No response")
        let isFailure =
            !request.isPending && !request.isCheck && (request.status.map { $0 >= 400 } ?? true || request.error != nil)
        let retry: HTML = request.isRetry ? "<br>\(HTML(saying: "MSAL’s second try"))" : ""
        let check: HTML = request.isCheck ? "<br>\(HTML(saying: "Check by the companion"))" : ""
        let call: HTML = request.native.map { "<br><code class=\"small\">\($0.endpoint.rawValue)</code>" } ?? ""
        let scopes: HTML = request.scopes.isEmpty ? "" : "\(request.scopes.joined(separator: " "))<br>"
        return """
            <tr data-correlation="\(request.correlationID ?? "")"\(isFailure ? " class=\"failed\"" : "" as HTML)>\
            <td>\(request.time.clock)</td>\
            <td><a id="step-of-\(request.position)" href="#step-\(request.step.rawValue)">\
            \(HTML(saying: request.step.title))</a>\(check)\(call)\(retry)\(correlation)</td>\
            <td><span class="status">\(status)</span><div class="result">\(error)\(memory(request))\(request.nativeLines)</div></td>\
            <td>\(scopes)<span class="small">\(request.parameters.joined(separator: " "))</span></td>\
            <td>\(request.milliseconds)</td></tr>

            """
    }

    private func memory(_ request: ClientRequest) -> HTML {
        guard let memory = request.memory else { return "" }
        let sentence =
            memory.endsBySignIn
            ? HTML(saying: "The app will answer this from memory until %@ or until someone signs in.", memory.end.clock)
            : HTML(saying: "The app will answer this from memory until %@.", memory.end.clock)
        return "<br><span class=\"small\">\(sentence)</span>"
    }

    /// Links to the companion's explanation of a number. A tenant that runs alone shows the platform's own text, or links
    /// to Microsoft's.
    private func explanation(_ error: String, _ position: Int) -> HTML {
        if let explainURL { return "<a id=\"error-of-\(position)\" href=\"\(explainURL)#\(error)\">\(error)</a>" }
        let number = Int(String(error.reversed().prefix(while: \.isNumber).reversed()))
        let text = number.flatMap(PlatformError.numbered)?.message
        if let text { return "\(error)<br><span class=\"small\" lang=\"en\">\(text)</span>" }
        guard let number, error.hasPrefix(PlatformError.workforcePrefix) else { return "\(error)" }
        return """
            <a id="error-of-\(position)" href="https://login.microsoftonline.com/error?code=\(number)" target="_blank" \
            rel="noreferrer">\(error)</a>
            """
    }

    private var steps: HTML {
        let rows = ClientStep.allCases.map { step in
            """
            <dt id="step-\(step.rawValue)">\(HTML(saying: step.title))</dt><dd>\(HTML(saying: step.meaning))</dd>

            """ as HTML
        }
        return """
            <details class="panel steps">
            <summary>\(HTML(saying: "What the steps mean"))</summary>
            <dl>
            \(rows)</dl>
            </details>
            """
    }
}

extension Date {
    /// The time of day in UTC, as MSAL's log has it.
    var clock: HTML { time { $0.dropFirst(11) } }

    /// The same with its day.
    var dayAndClock: HTML { time { $0.replacing("T", with: " ") } }

    private func time(_ shown: (String) -> some StringProtocol) -> HTML {
        let text = formatted(.iso8601)
        return "<time datetime=\"\(text)\">\(String(shown(text).dropLast()))</time>"
    }
}
