/// Comments of scripts and style sheets, which readers of the sources need and browsers do not.
enum Comments {
    private static let space = UInt8(ascii: " ")
    private static let newline = UInt8(ascii: "\n")

    /// Returns a script or a style sheet without the comments that begin a line, and any other content as it is. Their
    /// lines stay, empty, so that a browser's message names the line of the file.
    ///
    /// A comment after other code stays, because only a parser could tell it from a string. A line of a string that
    /// looks like a comment would go; the tests of the pages' scripts refuse it.
    ///
    /// - Parameter type: the content's media type.
    static func removed(from content: [UInt8], of type: String) -> [UInt8] {
        let isScript = type.hasPrefix("text/javascript")
        guard isScript || type.hasPrefix("text/css") else { return content }
        var lines = content.split(separator: newline, omittingEmptySubsequences: false)
        var isInBlock = false
        for index in lines.indices {
            let text = lines[index].drop { $0 == space }
            if !isInBlock, isScript, text.starts(with: "//".utf8) { lines[index] = [] }
            if !isInBlock, text.starts(with: "/*".utf8) {
                isInBlock = true
                lines[index] = text.dropFirst(2)
            }
            guard isInBlock else { continue }
            let line = lines[index]
            let end = line.indices.dropLast().first { line[$0...].starts(with: "*/".utf8) }
            isInBlock = end == nil
            lines[index] = end.map { line[($0 + 2)...] } ?? []
        }
        return Array(lines.joined(separator: [newline]))
    }
}
