import Foundation
import Testing

@testable import SessionStore

/// The problems of a server among others.
@Suite struct StoreConcernTests {
    private static let key = KeyRing.KeyID(bytes: Array(0..<8))

    private static func server(_ id: String, clockAhead: Int64?) -> ServerProcess {
        ServerProcess(id: id, host: id, version: "", keys: [key], clockAhead: clockAhead)
    }

    @Test(
        arguments: [
            ("agrees", 5_000, [0], nil), ("agrees, behind", -5_000, [0], nil),
            ("a little off", 5_001, [0], false), ("a little behind", -30_000, [0], false),
            ("far off beside a good one", 30_001, [4_999], true), ("far behind", -30_001, [-4_999], true),
            ("alone", 7_200_000, [], false), ("nobody agrees", 7_200_000, [5_000, 7_200_000], false),
            ("the others do not say", 7_200_000, [nil], false),
            ("one of them is good", 60_000, [nil, 90_000, 1], true),
        ] as [(String, Int64, [Int64?], Bool?)])
    func `a wrong clock is a concern, and keeps from serving where another server's clock is right`(
        _ name: String, ahead: Int64, others: [Int64?], keepsFromServing: Bool?
    ) {
        let own = Self.server("own", clockAhead: ahead)
        let living = [own] + others.enumerated().map { Self.server("\($0.offset)", clockAhead: $0.element) }
        let found = StoreConcern.all(of: own, PlaceStanding(time: 0, sealingKeys: []), beside: living)
        #expect(found.map(\.kind) == (keepsFromServing == nil ? [] : [.clock]), "\(name)")
        #expect(found.first?.keepsFromServing == keepsFromServing, "\(name)")
    }

    @Test(
        arguments: [
            ("all agree with each other", 60_000, [60_900, 59_100], true), ("alone", 60_000, [], false),
            ("one is right", 60_000, [60_900, 0], false), ("each says something else", 60_000, [-60_000], false),
            ("the others do not say", 60_000, [nil], false),
        ] as [(String, Int64, [Int64?], Bool)])
    func `servers that agree with each other and not with the database say that its clock is wrong`(
        _ name: String, ahead: Int64, others: [Int64?], isDatabases: Bool
    ) {
        let own = Self.server("own", clockAhead: ahead)
        let living = [own] + others.enumerated().map { Self.server("\($0.offset)", clockAhead: $0.element) }
        let found = StoreConcern.all(of: own, PlaceStanding(time: 0, sealingKeys: []), beside: living).first
        #expect(
            found?.description.hasPrefix("The database's clock is 60 s behind the clocks of all servers")
                == isDatabases,
            "\(name)")
    }

    @Test func `a missing key and a newer version keep from serving`() {
        let standing = PlaceStanding(
            time: 0, sealingKeys: [Self.key, KeyRing.KeyID(bytes: Array(8..<16))], refusal: .newerSchema("newer"))
        let found = StoreConcern.all(of: Self.server("own", clockAhead: 0), standing, beside: [])
        #expect(found.map(\.kind) == [.schema, .key])
        #expect(found.map(\.keepsFromServing) == [true, true])
        #expect(found.last?.description.contains("08090a0b0c0d0e0f") == true)
    }
}
