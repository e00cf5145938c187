// Calls each function that sees bytes from outside with input of the worst kinds, in two sizes. Under callgrind, which
// writes what `measured` took each time that it returns; on standard output, in the same order, what was called.
// Arguments: which part of the inputs of how many, and a word in the names of the functions to call.
#if DEBUG
    import WebFormats

    /// One function and what it is tried with.
    struct Row {
        let name: String
        /// The text around a pattern, so that the function reads as far as the pattern.
        var frames: [(before: String, after: String)] = [("", "")]
        /// Input that is no repetition: of about so many bytes.
        var made: [(name: String, text: @Sendable (Int) -> String)] = []
        /// Whether its texts come out of JSON or a callback, whose readers refuse long runs of combining marks.
        var isStreamSafe = false
        let call: @Sendable (String) throws -> Void

        /// Every input, by name.
        var inputs: [(name: String, text: @Sendable (Int) -> String)] {
            frames.flatMap { frame in
                Row.patterns.filter { !isStreamSafe || repeated($0, 512).isStreamSafe }.map { pattern in
                    let name = "\(frame.before)…\(frame.after) with \(pattern)"
                    return (name, { frame.before + repeated(pattern, $0) + frame.after })
                }
            } + made
        }

        /// Delimiters of every grammar, alone and with something between, numbers, and what is dear in Unicode: marks
        /// that combine (in and out of canonical order), flags and joined emoji, whose boundaries depend on what is before.
        static let patterns = [
            "a", "0", ",", ";", "=", "&", "%", "%25", "%2525", "\"", "\\", "\\u0041", "[", "[],", "{\"a\":", "1,", "/",
            "/a", "a.",
            "-", "a-", " ", " ,", "a ", "a;q=1,", "a=b;", "a=b&", "a=\"b\",", "W/\"a\",", ":", "a:b\r\n", " a\r\n",
            "1\r\na\r\n", "\u{E9}", "\u{301}\u{323}", "\u{1F1E6}", "\u{1F469}\u{200D}", "\u{1100}\u{1161}", "AADSTS1",
            "11111111-2222-4333-8444-555555555555/",
        ]
    }

    func repeated(_ pattern: String, _ bytes: Int) -> String {
        String(repeating: pattern, count: max(1, bytes / pattern.utf8.count))
    }

    nonisolated(unsafe) private var work: () -> Void = {}

    /// The function that callgrind counts, by this name.
    @inline(never)
    @_silgen_name("costs_measured")
    private func measured() { work() }

    @main
    enum Costs {
        private static let sizes = [4096, 16384]

        static func main() throws {
            let arguments = CommandLine.arguments.dropFirst()
            let (part, parts) = (Int(arguments.first ?? "0") ?? 0, Int(arguments.dropFirst().first ?? "1") ?? 1)
            let word = arguments.dropFirst(2).first ?? ""
            for row in try formatRows() + wireRows() + protocolRows() + storeRows() + productRows()
            where word.isEmpty || row.name.contains(word) {
                for (number, input) in row.inputs.enumerated() where number % parts == part {
                    // Values that are made once (a global, a cache of Unicode data) are made before.
                    try? row.call(input.text(512))
                    for size in sizes {
                        let text = input.text(size)
                        work = { try? row.call(text) }
                        measured()
                        print(row.name, size, input.name.unicodeScalars.map(\.escaped).joined(), separator: "\t")
                    }
                }
            }
        }
    }

    extension Unicode.Scalar {
        fileprivate var escaped: String { escaped(asASCII: true) }
    }
#else
    @main
    enum Costs {
        static func main() { print("Costs needs a debug build, which lets it see inside the modules.") }
    }
#endif
