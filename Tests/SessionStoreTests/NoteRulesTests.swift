import Testing

@testable import SessionStore

/// When a page has gone to the provider by itself too often.
@Suite struct NoteRulesTests {
    @Test(
        arguments: [
            ([], nil), ([.trip, .trip], nil), ([.trip, .trip, .trip], 0), ([.trip, .trip, .trip, .trip], 0),
            ([.trip, .progress, .trip, .trip], nil), ([.trip, .progress, .trip, .trip, .trip], 2),
            ([.trip, .trip, .trip, .progress], nil), ([.trip, .record, .trip, .record, .trip], 0),
        ] as [([SessionNote.Kind], Int64?)])
    func `only trips after the last progress count`(kinds: [SessionNote.Kind], oldest: Int64?) {
        let notes = kinds.enumerated().map { (id: Int64($0.offset), kind: $0.element) }
        #expect(SignInRules.oldestTrip(among: notes, most: 3) == oldest)
    }
}
