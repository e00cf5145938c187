extension KeyRing {
    /// The key file's keys; makes the file (mode 0600) with one new key when it is not there.
    public static func load(
        orCreateAt path: String, randomBytes: (Int) -> [UInt8] = SessionStore.secureRandomBytes
    ) throws(StoreError) -> KeyRing {
        throw .keyFile("being built")
    }

    /// Puts a new key first in the file, in one atomic step; the older ones stay, to open.
    public static func rotate(
        fileAt path: String, randomBytes: (Int) -> [UInt8] = SessionStore.secureRandomBytes
    ) throws(StoreError) -> KeyRing {
        throw .keyFile("being built")
    }
}
