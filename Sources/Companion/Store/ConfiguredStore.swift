package import CompanionCore
package import EventLoop
package import SessionStore

// The store that a configuration describes.

extension SessionStore {
    /// The store that a configuration describes, with the background work that a server needs.
    ///
    /// - Parameters:
    ///   - configuration: checked configuration.
    ///   - workers: on which a PostgreSQL database is asked; nil makes one for it.
    ///   - clocks: by which it goes.
    ///   - randomBytes: a secure source.
    ///   - onOperation: called after each operation on the database, for measuring.
    ///   - onRotation: called when the running store has followed a rotation of the keys.
    ///   - onConcern: called when something is wrong with this server beside the others, and when that is over.
    /// - Throws: ``StoreError`` when the database or the key cannot be used.
    package convenience init(
        configuration: CompanionConfiguration, workers: WorkerGroup? = nil,
        clocks: Clocks = Clocks(),
        randomBytes: @escaping @Sendable (Int) -> [UInt8] = SessionStore.secureRandomBytes,
        onOperation: (@Sendable (StoreOperation) -> Void)? = nil,
        onRotation: (@Sendable (KeyRing.KeyID) -> Void)? = nil,
        onConcern: (@Sendable (StoreConcern, _ isOver: Bool) -> Void)? = nil
    ) throws(StoreError) {
        let keyRing = try configuration.encryptionKey.loadedOrMade()
        var own = Configuration(configuration)
        own.onRotation = onRotation
        own.onConcern = onConcern
        self.init(
            backend: try configuration.place.open(keyRing, workers: workers, onOperation: onOperation),
            configuration: own, keyRing: keyRing, clocks: clocks, randomBytes: randomBytes)
    }
}

extension SessionStore.Configuration {
    /// What a configuration says about sessions.
    init(_ configuration: CompanionConfiguration) {
        self.init(idle: configuration.effectiveSessionIdle, maxAge: configuration.sessionMaximum)
        freeBytes = configuration.freeBytes
        version = companionVersion
    }
}

extension EncryptionKey {
    /// The keys; a file is made where it is not there.
    func loadedOrMade() throws(StoreError) -> KeyRing {
        switch self {
        case .file(let path): try KeyRing.load(orCreateAt: path)
        case .value(let text): try KeyRing(text: text)
        }
    }

    /// The keys; nil where the file is not there.
    package func loaded() throws(StoreError) -> KeyRing? {
        switch self {
        case .file(let path): try KeyRing.load(existingAt: path)
        case .value(let text): try KeyRing(text: text)
        }
    }
}
