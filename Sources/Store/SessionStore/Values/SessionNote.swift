package import Foundation

/// A note about a session, kept for an hour and for every server on the same database. It contains no secrets; its text
/// is stored sealed, because it tells what a person has done.
public struct SessionNote: Sendable, Equatable {
    /// The note's effect on the count of trips to the provider that pages begin by themselves.
    public enum Kind: Int64, Sendable {
        /// No effect.
        case record = 0
        /// The note is a trip.
        case trip = 1
        /// A sign-in succeeded: earlier trips no longer count.
        case progress = 2
    }

    /// The note's effect on the count of trips.
    public let kind: Kind
    /// The configured application's name.
    public let app: String
    /// The text of the note, in the form that its author chose.
    public let text: String

    /// Creates a note.
    public init(_ kind: Kind = .record, app: String, text: String = "") {
        self.kind = kind
        self.app = app
        self.text = text
    }
}

/// A note as it is stored.
package struct SessionNoteRow: Sendable {
    /// The time in milliseconds since 1970, and twenty more bits. The ids that one server makes increase.
    package let id: Int64
    package let session: SessionKey
    package let kind: SessionNote.Kind
    package let app: String
    /// The sealed text; empty for a trip, which has none.
    package let sealed: Data
    /// The text of a program of the previous version, which seals none.
    package let unsealed: String

    package init(
        id: Int64, session: SessionKey, kind: SessionNote.Kind, app: String, sealed: Data = Data(),
        unsealed: String = ""
    ) {
        self.id = id
        self.session = session
        self.kind = kind
        self.app = app
        self.sealed = sealed
        self.unsealed = unsealed
    }

    /// Returns the lowest id of a moment.
    package static func id(at milliseconds: Int64) -> Int64 { max(0, milliseconds) << 20 }

    /// Whether the oldest notes of its session are deleted now. This is so for about one note in sixteen.
    package var makesRoom: Bool { id % 16 == 0 }
}
