public import Foundation

/// A case of a corpus: a message in bytes, and the events that it must give.
///
/// The files of a corpus are documents. A case is
///
///     === What it shows
///     @ maxBodyBytes 5          (optional settings; those of limits have the limits' names)
///     POST / HTTP/1.1\r\n       (line breaks of the file count for nothing; escapes: \r \n \t \0 \\ \xHH, and
///     ...                        \{A*100} is a hundred As)
///     ---
///     head POST / HTTP/1.1 …    (the events, as `Transcript` writes them)
public struct CorpusCase: Sendable, CustomStringConvertible {
    /// The file's name without its extension.
    public let file: String
    /// The title of the case.
    public let title: String
    /// Settings by name.
    public let settings: [String: Int]
    /// The bytes of the message.
    public let bytes: [UInt8]
    /// The events, one per line.
    public let events: [String]

    /// The file and the title.
    public var description: String { "\(file): \(title)" }

    /// Returns the cases of the text files in a folder, in order.
    public static func all(in folder: URL) -> [CorpusCase] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().filter { $0.hasSuffix(".txt") }.flatMap { name in
            let text = (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
            return cases(in: text, file: String(name.dropLast(4)))
        }
    }

    private static func cases(in text: String, file: String) -> [CorpusCase] {
        var cases: [CorpusCase] = []
        for part in "\n\(text)".components(separatedBy: "\n=== ").dropFirst() {
            var lines = part.components(separatedBy: "\n")
            let title = lines.removeFirst()
            var settings: [String: Int] = [:]
            while let line = lines.first, line.hasPrefix("@ ") {
                let words = line.split(separator: " ")
                settings[String(words[1])] = words.count > 2 ? Int(words[2]) : nil
                lines.removeFirst()
            }
            let rule = lines.firstIndex(of: "---") ?? lines.endIndex
            let events = lines[rule...].dropFirst().filter { !$0.isEmpty && !$0.hasPrefix("#") }
            cases.append(
                CorpusCase(
                    file: file, title: title, settings: settings, bytes: unescape(lines[..<rule].joined()),
                    events: Array(events)))
        }
        return cases
    }

    private static func unescape(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Substring(text)
        while let character = rest.popFirst() {
            guard character == "\\", let escape = rest.popFirst() else {
                bytes += String(character).utf8
                continue
            }
            switch escape {
            case "r": bytes.append(0x0D)
            case "n": bytes.append(0x0A)
            case "t": bytes.append(0x09)
            case "0": bytes.append(0)
            case "x":
                bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
                rest = rest.dropFirst(2)
            case "{":
                let run = rest.prefix { $0 != "}" }.split(separator: "*")
                rest = rest.drop { $0 != "}" }.dropFirst()
                let piece = unescape(String(run.first ?? ""))
                for _ in 0..<(Int(run.last ?? "") ?? 0) { bytes += piece }
            default: bytes += String(escape).utf8
            }
        }
        return bytes
    }
}
