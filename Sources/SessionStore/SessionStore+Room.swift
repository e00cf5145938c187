import Foundation
import GRDB
import Glibc

extension SessionStore {
    /// How much people who are not signed in may take up: somebody without an account must not fill the disk. Whoever
    /// has an account in the session is not held to it, and nobody who is at the provider now loses the sign-in to it.
    public struct NewcomerLimits: Sendable, Equatable {
        /// The most sign-ins of people without an account that are kept at a time, the ended ones of the last half hour
        /// included; 0 sets no limit.
        public var signIns: Int
        /// The most bytes of the database that they take; 0 sets no limit.
        public var bytes: Int
        /// So many bytes stay free on the disk for those who are signed in; on a small disk a tenth of it. 0 keeps none.
        public var freeBytes: Int

        /// Every property, in their order.
        public init(signIns: Int = 20_000, bytes: Int = 64 << 20, freeBytes: Int = 64 << 20) {
            self.signIns = signIns
            self.bytes = bytes
            self.freeBytes = freeBytes
        }
    }

    /// What a sign-in takes beside its text: its entries in three indices, its session, and the part of a page that
    /// stays empty behind a text of a few KB (at most half of it).
    private static let overhead = 2560

    /// What one more sign-in takes of the database, in bytes; rather too much than too little.
    static func weight(_ new: NewSignInAttempt, sealed: Data, scopes: String) -> Int64 {
        let texts = [new.app, new.returnTo, new.prompt ?? "", new.expectedAccountID ?? "", scopes]
        return Int64(overhead + sealed.count + texts.reduce(0) { $0 + $1.utf8.count })
    }

    /// Makes sure that there is room for a sign-in of somebody who is not signed in. Where there is none, the ended
    /// sign-ins of the same session make it: who cancelled may try again.
    ///
    /// - Throws: `noRoom`.
    func requireRoom(for weight: Int64, in session: Int64?, diskIsLow: Bool, _ db: Database, now: Int64) throws {
        guard !diskIsLow else {
            throw StoreError.noRoom(
                "less than the reserve (limits.free_megabytes) is free on the disk of \(database.path)")
        }
        while try !hasRoom(for: weight, db) {
            var isReplaced = false
            if let session {
                try db.run(
                    """
                    DELETE FROM sign_in_attempt WHERE rowid = (
                        SELECT rowid FROM sign_in_attempt WHERE session = ? AND weight > 0
                            AND (failed_at IS NOT NULL OR completed_at IS NOT NULL OR begun_at < ?)
                        ORDER BY begun_at LIMIT 1)
                    """, [session, now &- lifetimes.attempt])
                isReplaced = db.changesCount > 0
            }
            guard isReplaced else {
                throw StoreError.noRoom(
                    "people who are not signed in have as many sign-ins under way as may be kept "
                        + "(limits.pending_sign_ins, limits.pending_megabytes)")
            }
        }
    }

    private func hasRoom(for weight: Int64, _ db: Database) throws -> Bool {
        guard let row = try db.row("SELECT count, bytes FROM newcomers", []) else { return true }
        let count: Int64 = try row.decode(atIndex: 0)
        let bytes: Int64 = try row.decode(atIndex: 1)
        return (newcomers.signIns <= 0 || count < newcomers.signIns)
            && (newcomers.bytes <= 0 || bytes.addingReportingOverflow(weight).partialValue <= newcomers.bytes)
    }

    /// How many pages are given back at a time: a megabyte, in some milliseconds.
    private static let pagesAtATime = 256

    /// Gives free pages of the file back to the disk, one small step; a megabyte, or a tenth of the file, stays for what
    /// comes next. Answers whether there is more to do. A file from before version 3 is rewritten by
    /// ``rewrite(databaseAt:)`` first.
    func giveSpaceBack() async throws(StoreError) -> Bool {
        let (free, all, mode) = try await database.read { db in
            (
                try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0,
                try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0,
                try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") ?? 0
            )
        }
        let spare = free - max(Self.pagesAtATime, all / 10)
        guard mode == Schema.incrementalVacuum, spare > 0 else { return false }
        try await database.write { db, _ in
            try db.execute(sql: "PRAGMA incremental_vacuum(\(min(spare, Self.pagesAtATime)))")
        }
        guard spare <= Self.pagesAtATime else { return true }
        await database.mergeLog()
        return false
    }
}

/// Whether the disk has less than a reserve left.
final class DiskReserve: Sendable {
    private struct State {
        var lookedAt: Int64?
        var isLow = false
    }

    private let path: String
    private let bytes: Int64
    private let state = Locked(State())

    /// - Parameter bytes: what has to be free beside `path`; on a small disk a tenth of the disk.
    init(besides path: String, bytes: Int) {
        self.path = path
        self.bytes = Int64(bytes)
    }

    /// As it was at most a second ago. A disk that cannot be looked at is not low.
    func isLow(now: Int64) -> Bool {
        guard bytes > 0 else { return false }
        return state.withLock { state in
            // A clock that was set back must not keep the answer.
            if let at = state.lookedAt, (0..<1000).contains(now &- at) { return state.isLow }
            state.lookedAt = now
            let (free, disk) = StoreInspection.space(besides: path)
            state.isLow = free.map { $0 < min(bytes, (disk ?? .max) / 10) } ?? false
            return state.isLow
        }
    }
}
