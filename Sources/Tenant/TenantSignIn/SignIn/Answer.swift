import HTTPTypes
import HTTPWire
import TenantDirectory
import WebFormats

/// Responses of the authorization endpoint to the application.
extension IdentityPlatform {
    /// Sends parameters and `state` to the application's redirect URI.
    func answer(_ parameters: [(String, String?)], to target: AnswerTarget) -> Response {
        var pairs = parameters.compactMap { name, value in value.map { (name: name, value: $0) } }
        if let state = target.state { pairs.append((name: "state", value: state)) }
        // Brackets stay plain (t2-authz-14).
        let text = FormEncoding.encode(pairs).replacing("%28", with: "(").replacing("%29", with: ")")
        switch target.responseMode {
        case .query: return .redirect(to: target.redirectURI.withPath.appending(query: text), status: .found)
        case .fragment: return .redirect(to: "\(target.redirectURI)#\(text)", status: .found)
        case .formPost:
            return layout.page(FormPostPage(action: target.redirectURI, fields: pairs), leavingTo: target.redirectURI)
        }
    }

    /// Reports an error to the application.
    func answer(
        _ error: PlatformError, _ diagnostics: Diagnostics, to target: AnswerTarget, more: [(String, String?)] = []
    ) -> Response {
        let description = diagnostics.describe(error)
        var parameters: [(String, String?)] = [("error", error.error), ("error_subcode", error.suberror)]
        // That somebody has cancelled stands alone (authz-err-03).
        if error.suberror != "cancel" {
            parameters += [("error_description", description), ("error_uri", error.page), ("claims", error.claims)]
        }
        return answer(parameters + more, to: target)
    }
}

extension String {
    /// The web address with a slash where it has no path, as the platform writes it before a query (t2-authz-11).
    fileprivate var withPath: String {
        guard hasPrefix("http://") || hasPrefix("https://"), let start = firstRange(of: "://")?.upperBound else {
            return self
        }
        let end = self[start...].firstIndex(of: "?") ?? endIndex
        return self[start..<end].contains("/") ? self : "\(self[..<end])/\(self[end...])"
    }

    /// Returns a URL with these parameters added to its query.
    package func appending(query pairs: [(name: String, value: String)]) -> String {
        appending(query: FormEncoding.encode(pairs))
    }

    fileprivate func appending(query text: String) -> String {
        text.isEmpty ? self : "\(self)\(contains("?") ? "&" : "?")\(text)"
    }
}
