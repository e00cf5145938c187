import Foundation
package import PostgresStore
import SQLiteStore

/// The location of the sessions, from the setting `database`. Only a ``StorePlace`` distinguishes the kinds.
package enum StoreAddress: Sendable, Equatable, CustomStringConvertible {
    /// An SQLite file.
    case file(String)
    /// A PostgreSQL database, and the file with its password, if there is one.
    case postgres(PostgresSettings, passwordFile: String? = nil)

    /// The default location.
    package static let standard = StoreAddress.file(SQLiteStore.defaultPath)

    /// The file's path, or the database's address without a password.
    package var description: String {
        switch self {
        case .file(let path): path
        case .postgres(let settings, _): settings.description
        }
    }

    /// Whether several servers may use the same sessions.
    package var isClustered: Bool {
        if case .postgres = self { true } else { false }
    }

    /// The folder on this machine that the database occupies; nil if it is elsewhere.
    package var folder: String? {
        if case .file(let path) = self { URL(fileURLWithPath: path).deletingLastPathComponent().path } else { nil }
    }

    /// The path beside which the server keeps its own files, such as the key and the demo's state.
    package var localPath: String {
        if case .file(let path) = self { path } else { Self.standard.description }
    }
}
