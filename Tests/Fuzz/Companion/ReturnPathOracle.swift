import Foundation

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

/// The input is where a sign-in is asked to return to. Foundation resolves it against our address, as a browser does.
@Sendable func checkReturnPath(_ input: [UInt8]) throws(Disagreement) {
    let text = String(decoding: input, as: UTF8.self)
    for prefix in ["", "/companion"] {
        guard let path = ReturnPath(text, below: prefix) else { continue }
        try agree(Array(path.text.utf8), input, "A return path is taken as it is or not at all")
        try agree(ReturnPath(path.text, below: prefix), path, "What was taken once is taken again")
        guard let base = URL(string: "https://us.example\(prefix)/auth/callback") else { return }
        var decoded: String? = path.text
        for _ in 0..<6 {
            guard let spelling = decoded else { break }
            try hold(!spelling.hasPrefix("//") && !spelling.contains("\\"), "No spelling of it leaves us: \(spelling)")
            if let resolved = URL(string: spelling, relativeTo: base)?.absoluteURL {
                try agree(resolved.host(), "us.example", "Foundation stays with us at \(spelling)")
                try agree(resolved.scheme, "https", "And with https at \(spelling)")
                try hold(resolved.standardized.path().hasPrefix(prefix), "And below our prefix at \(spelling)")
            }
            decoded = spelling.removingPercentEncoding
        }
    }
}
