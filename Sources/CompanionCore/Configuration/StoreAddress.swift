import Foundation
package import PostgresStore
import SQLiteStore

/// Where sessions live, as `database` names it. Only the store's place asks which kind it is.
package enum StoreAddress: Sendable, Equatable, CustomStringConvertible {
    /// A file of SQLite.
    case file(String)
    /// A PostgreSQL database, and the file of its password where there is one.
    case postgres(PostgresSettings, passwordFile: String? = nil)

    /// Where sessions live unless configured otherwise.
    package static let standard = StoreAddress.file(SQLiteStore.defaultPath)

    /// The file's path, or the database's address as people write it, without a password.
    package var description: String {
        switch self {
        case .file(let path): path
        case .postgres(let settings, _): settings.description
        }
    }

    /// Whether several servers may work with the same sessions.
    package var isClustered: Bool {
        if case .postgres = self { true } else { false }
    }

    /// The folder of this machine that it fills; nil where it is not on this machine's disk.
    package var folder: String? {
        if case .file(let path) = self { URL(fileURLWithPath: path).deletingLastPathComponent().path } else { nil }
    }

    /// The path beside which the server keeps its own files: the key, the demo's state.
    package var localPath: String {
        if case .file(let path) = self { path } else { Self.standard.description }
    }
}
