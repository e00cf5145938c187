/// Something that was noted of a session, for an hour and for every server that shares the place. It holds nothing secret:
/// it is kept as it is.
public struct SessionNote: Sendable, Equatable {
    /// What it says about trips to the provider that a page began by itself.
    public enum Kind: Int64, Sendable {
        /// Nothing.
        case record = 0
        /// It is one.
        case trip = 1
        /// Somebody got somewhere: the trips before do not count any more.
        case progress = 2
    }

    /// What it says about trips.
    public let kind: Kind
    /// The configured application's name.
    public let app: String
    /// What was noted, in the words of the one who noted it.
    public let text: String

    /// Every property, in their order.
    public init(_ kind: Kind = .record, app: String, text: String = "") {
        self.kind = kind
        self.app = app
        self.text = text
    }
}

/// A note as a place keeps it.
package struct SessionNoteRow: Sendable, Equatable {
    /// The time in milliseconds since 1970, and twenty bits more. Those that one server makes rise.
    package let id: Int64
    package let session: SessionKey
    package let note: SessionNote

    package init(id: Int64, session: SessionKey, note: SessionNote) {
        self.id = id
        self.session = session
        self.note = note
    }

    /// The least id of a moment.
    package static func id(at milliseconds: Int64) -> Int64 { max(0, milliseconds) << 20 }

    /// Whether its session's oldest notes go now: about every sixteenth has them looked for.
    package var makesRoom: Bool { id % 16 == 0 }
}

extension SignInRules {
    /// How many notes of a session in which somebody is signed in stay when there are more.
    package static let maxNotes = 200
    /// The same for somebody who is not: what anyone can have written must stay small.
    package static let maxNotesOfNewcomer = 16
    /// How long notes are kept.
    package static let noteLifetime: Duration = .seconds(3600)

    /// Whether a page may go to the provider once more by itself.
    ///
    /// - Parameters:
    ///   - notes: the trips of a session with an application within the time that counts, and the progress, in their order.
    ///   - most: how many trips there may be.
    /// - Returns: nil when it may, else the oldest of the trips that count.
    package static func oldestTrip(among notes: [(id: Int64, kind: SessionNote.Kind)], most: Int) -> Int64? {
        let counting = notes.suffix(while: { $0.kind != .progress }).filter { $0.kind == .trip }
        return counting.count >= most ? counting.first?.id : nil
    }
}

extension Array {
    /// The elements behind the last one that `belongs` says no of.
    fileprivate func suffix(while belongs: (Element) -> Bool) -> ArraySlice<Element> {
        self[(lastIndex { !belongs($0) }.map { $0 + 1 } ?? startIndex)...]
    }
}
