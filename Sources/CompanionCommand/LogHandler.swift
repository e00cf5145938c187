import Companion
import Foundation
import Logging

/// One log line on standard error: text for people or JSON for machines.
struct LineLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    let label: String
    let format: LogFormat

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = metadata.merging(event.metadata ?? [:]) { _, new in new }
        let time = Date.now.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
        var line: String
        switch format {
        case .text:
            line =
                "\(time) \(event.level.rawValue.uppercased()) \(label): \(LineLogHandler.plain(event.message.description))"
            for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
                line += " \(key)=\(LineLogHandler.plain(value.description))"
            }
        case .json:
            var fields = metadata.mapValues { $0.description }
            fields["time"] = time
            fields["level"] = event.level.rawValue
            fields["logger"] = label
            fields["message"] = event.message.description
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            line = (try? encoder.encode(fields)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        }
        line += "\n"
        // One write for a line, so that lines of several threads do not mix.
        line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }

    /// Text from outside cannot begin a line of its own or steer a terminal (CWE-117).
    private static func plain(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.properties.generalCategory == .control {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }
}
