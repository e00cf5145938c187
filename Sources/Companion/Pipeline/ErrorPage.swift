import Foundation
import HTTPTypes
import HTTPWire

/// A problem as a page, for a browser that navigated here. The template is `error.html` of the pages' folder.
struct ErrorPage: Sendable {
    private let template: String

    /// Reads the template once.
    ///
    /// - Throws: when the folder has no such file.
    init(folder: String) throws {
        template = try String(contentsOfFile: folder + "/error.html", encoding: .utf8)
    }

    func response(_ problem: Problem) -> Response {
        let values = [
            "title": problem.title, "detail": problem.detail, "code": problem.code.rawValue,
            "correlation_id": problem.correlationID ?? "–", "action_url": problem.action?.url ?? "/",
            "action_label": problem.action == nil ? "Back to the start" : "Sign in again",
        ]
        let html = values.reduce(template) { html, value in
            html.replacingOccurrences(of: "{{\(value.key)}}", with: ErrorPage.escaped(value.value))
        }
        var response = Response(
            status: problem.status,
            headerFields: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: Array(html.utf8))
        if let retryAfter = problem.retryAfter { response.headerFields[.retryAfter] = String(retryAfter) }
        return response
    }

    /// Text as HTML content or a quoted attribute's value.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "{": result += "&#123;"
            default: result.append(character)
            }
        }
        return result
    }
}
