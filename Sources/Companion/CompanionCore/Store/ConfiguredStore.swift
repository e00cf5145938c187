package import EventLoop
package import SessionStore

// The store that a configuration describes.

extension SessionStore {
    /// Opens the store that a configuration describes, with the background work that a server needs.
    ///
    /// - Parameters:
    ///   - configuration: a checked configuration.
    ///   - isServer: whether to serve from it, rather than to work beside a server.
    ///   - workers: the workers that handle connections to a PostgreSQL database; nil creates one.
    ///   - clocks: the clocks of the store.
    ///   - randomBytes: a secure source.
    ///   - onOperation: called after each operation on the database, for metrics.
    ///   - onRotation: called when the running store has followed a rotation of the keys.
    ///   - onConcern: called when a problem between this server and the others begins or ends.
    /// - Throws: ``StoreError`` when the database or the key cannot be used.
    package convenience init(
        configuration: CompanionConfiguration, isServer: Bool = false, workers: WorkerGroup? = nil,
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
            backend: try configuration.place.open(
                keyRing, isServer: isServer, workers: workers, onOperation: onOperation),
            configuration: own, keyRing: keyRing, clocks: clocks, randomBytes: randomBytes)
    }
}

extension SessionStore.Configuration {
    /// Takes the options of the store from a configuration.
    init(_ configuration: CompanionConfiguration) {
        self.init(idle: configuration.effectiveSessionIdle, maxAge: configuration.sessionMaximum)
        freeBytes = configuration.freeBytes
        version = companionVersion
    }
}

extension EncryptionKey {
    /// Returns the keys; creates the key file if it does not exist.
    func loadedOrMade() throws(StoreError) -> KeyRing {
        switch self {
        case .file(let path): try KeyRing.load(orCreateAt: path)
        case .value(let text): try KeyRing(text: text)
        }
    }

    /// Returns the keys; nil if the key file does not exist.
    package func loaded() throws(StoreError) -> KeyRing? {
        switch self {
        case .file(let path): try KeyRing.load(existingAt: path)
        case .value(let text): try KeyRing(text: text)
        }
    }
}
