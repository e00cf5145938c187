/// The progress of a purge of sessions. A backend that finds sessions by indexes makes two walks, each along one index:
/// first over the sessions that have not been used recently, then over those that began long ago.
package struct PurgePlace: Sendable {
    package enum Walk: String, Sendable {
        case unused, old
    }

    package let walk: Walk
    /// The value by which the walk's index sorts, of the session that was visited last. Its key is beside it.
    package let position: Int64
    package let key: SessionKey

    private init(_ walk: Walk, position: Int64 = .min, key: SessionKey = SessionKey(0)) {
        self.walk = walk
        self.position = position
        self.key = key
    }

    /// Creates the place from a cursor of ``step(after:ended:)``, or from the beginning of all walks.
    package init(_ cursor: StoreCursor) {
        let parts = cursor.text.split(separator: " ")
        guard parts.count == 3, let walk = Walk(rawValue: String(parts[0])), let position = Int64(parts[1]),
            let key = Int64(parts[2])
        else {
            self.init(.unused)
            return
        }
        self.init(walk, position: position, key: SessionKey(key))
    }

    private var cursor: StoreCursor { StoreCursor("\(walk.rawValue) \(position) \(key)") }

    /// Returns the result of a purge step, with the cursor for the next one.
    ///
    /// - Parameters:
    ///   - last: the session that was visited last; nil when the walk is complete.
    ///   - ended: the sessions that were deleted or emptied.
    package func step(after last: (session: SessionRow, position: Int64)?, ended: [SessionKey]) -> PurgeStep {
        guard let last else {
            return PurgeStep(ended: ended, next: PurgePlace(.old).cursor, isMore: walk == .unused)
        }
        let next = PurgePlace(walk, position: last.position, key: last.session.key)
        return PurgeStep(ended: ended, next: next.cursor, isMore: true)
    }
}
