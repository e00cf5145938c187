import CompanionCore
import Foundation
import Logging
import WebFormats

/// Makes of each log event one line, as text or as JSON.
struct LineLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    let label: String
    let format: LogFormat
    let writer: LogWriter

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        writer.write(
            LineLogHandler.line(
                event.message.description, event.level, from: label,
                metadata.merging(event.metadata ?? [:]) { _, new in new }, as: format))
    }

    /// Returns a line with the present time, and its line feed.
    static func line(
        _ message: String, _ level: Logger.Level, from label: String, _ metadata: Logger.Metadata = [:],
        as format: LogFormat
    ) -> String {
        let time = Date.now.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)) + "Z"
        switch format {
        case .text:
            return "\(time) \(level.rawValue.uppercased()) \(label): \(LogText.line(message, metadata))\n"
        case .json:
            var fields = metadata.mapValues { $0.description }
            fields["time"] = time
            fields["level"] = level.rawValue
            fields["logger"] = label
            fields["message"] = message
            return JSONValue.object(fields.mapValues(JSONValue.string)).text + "\n"
        }
    }
}
