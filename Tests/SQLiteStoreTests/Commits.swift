import GRDB
import SessionStore
import Synchronization

@testable import SQLiteStore

/// The number of transactions that a store has committed since this was made.
final class Commits: TransactionObserver, Sendable {
    private let state = Mutex(0)
    var count: Int { state.withLock { $0 } }

    init(in store: SessionStore) {
        store.sqlite.database.pool.add(transactionObserver: self, extent: .observerLifetime)
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { state.withLock { $0 += 1 } }
    func databaseDidRollback(_ db: Database) {}
}
