import Companion
import CompanionCore
import Foundation
import Logging
import WebFormats

/// Writes each log event as one line to standard error, as text or as JSON.
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
                "\(time) \(event.level.rawValue.uppercased()) \(label): "
                + LogText.line(event.message.description, metadata)
        case .json:
            var fields = metadata.mapValues { $0.description }
            fields["time"] = time
            fields["level"] = event.level.rawValue
            fields["logger"] = label
            fields["message"] = event.message.description
            line = JSONValue.object(fields.mapValues(JSONValue.string)).text
        }
        line += "\n"
        // One write per line, so that lines of several threads do not mix.
        line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
}
