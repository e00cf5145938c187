import Foundation
import PostgresStore
import SQLiteStore
import SessionStore

extension CompanionConfiguration {
    /// Copies all sessions to another database: people stay signed in, as soon as the server is configured with it.
    ///
    /// - Parameter target: what `database` is configured with then.
    /// - Returns: how many sessions.
    /// - Throws: ``StoreError`` when a server works with one of the two, or the other one contains sessions already.
    public func copySessions(to target: CompanionConfiguration) async throws -> Int {
        let ring = try encryptionKey.loadedOrMade()
        for place in [self, target] { try await place.refuseWhileInUse(ring) }
        let from = try openMovable(ring)
        return try await closing(from.close) {
            let to = try target.openMovable(ring)
            return try await closing(to.close) { try await from.copyAll(to: to) }
        }
    }

    private func openMovable(_ ring: KeyRing) throws(StoreError) -> any MovableBackend {
        guard let postgres = try openablePostgres() else { return try SQLiteStore(path: database, keyRing: ring) }
        return try PostgresStore(postgres, keyRing: ring)
    }

    private func refuseWhileInUse(_ ring: KeyRing) async throws(StoreError) {
        let isInUse: Bool
        if let postgres = try openablePostgres() {
            isInUse = !PostgresStore.inspect(postgres, keyRing: ring).servers.isEmpty
        } else {
            isInUse = SQLiteStore.exists(databaseAt: database) && SQLiteStore.isInUse(databaseAt: database)
        }
        guard !isInUse else {
            throw .unavailable(
                "a server works with \(database): stop all servers before sessions are moved")
        }
    }
}
