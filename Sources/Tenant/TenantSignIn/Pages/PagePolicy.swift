import Foundation
import TenantDirectory

/// The Content-Security-Policy of the tenant's responses.
package enum PagePolicy {
    /// - Parameters:
    ///   - target: The address at which the page's form ends, as a redirect URI. Browsers apply `form-action` to the
    ///     redirect after a form, too. A custom scheme is allowed as a whole (CSP Level 3, scheme-source).
    ///   - frames: The origins of frames.
    package static func text(leavingTo target: String? = nil, frames: [String] = []) -> String {
        let formAction = ["'self'", target.flatMap(source)].compactMap(\.self).joined(separator: " ")
        let frameSource = frames.isEmpty ? "" : "; frame-src \(Set(frames).sorted().joined(separator: " "))"
        return "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; "
            + "form-action \(formAction); base-uri 'none'; frame-ancestors 'none'\(frameSource)"
    }

    private static func source(_ uri: String) -> String? {
        uri.webOrigin ?? URLComponents(string: uri)?.scheme.map { "\($0):" }
    }
}
