import Testing
import WebFormats

@testable import Cryptography

/// Hexadecimal digits in a table; a wrong one is no bytes.
private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

@Suite struct SymmetricTests {
    // FIPS 180-2 appendix B, and the empty message.
    private static let hashes = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]

    @Test(arguments: hashes)
    func `SHA-256 is the standard's, whole and byte by byte`(text: String, hash: String) {
        #expect(Hex.encode(SHA256.hash(data: text.utf8)) == hash)
        #expect(Hex.encode(SHA256.hash(data: text.utf8.lazy.map(\.self))) == hash)
        var parts = SHA256()
        for byte in text.utf8 { parts.update(data: CollectionOfOne(byte)) }
        #expect(Hex.encode(parts.finalize()) == hash)
    }

    @Test func `SHA-1 is the standard's`() {
        #expect(Hex.encode(SHA1.hash(data: "abc".utf8)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(Hex.encode(SHA1.hash(data: [])) == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    }

    @Test func `threads hash side by side`() async {
        let key = AuthenticationKey([1])
        let hashes = await withTaskGroup { group in
            for _ in 0..<32 {
                group.addTask {
                    (0..<500).map { [SHA256.hash(data: "\($0)".utf8), key.code(for: "\($0)".utf8)] }
                }
            }
            return await group.reduce(into: Set<String>()) { $0.insert(Hex.encode($1.joined().joined())) }
        }
        #expect(hashes.count == 1)
    }

    // RFC 4231 section 4: cases 1, 2, 4 and 6 (a key longer than a block).
    @Test(
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                Array(1...25), [UInt8](repeating: 0xCD, count: 50),
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
            // Made with Python's hmac: no key, and nothing.
            ([], [], "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
        ] as [([UInt8], [UInt8], String)])
    func `HMAC is the standard's, each time`(key: [UInt8], message: [UInt8], code: String) {
        let key = AuthenticationKey(key)
        for _ in 0..<2 { #expect(Hex.encode(key.code(for: message)) == code) }
        #expect(key.isCode(bytes(code), for: message))
        #expect(!key.isCode(bytes(code).dropLast(), for: message))
        #expect(!key.isCode(bytes(code), for: message + [0]))
    }

    // RFC 5869 appendix A: cases 1 and 3.
    @Test(
        arguments: [
            (
                "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
            ),
            (
                "", "",
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
            ),
        ])
    func `a derived key is the standard's`(salt: String, purpose: String, key: String) {
        let secret = [UInt8](repeating: 0x0B, count: 22)
        #expect(
            Hex.encode(KeyDerivation.key(from: secret, salt: bytes(salt), for: bytes(purpose), count: 42)) == key)
    }

    // NIST's gcmDecrypt256.rsp (CAVS 14.0), with nonces of 96 bits and tags of 128.
    @Test(
        arguments: [
            (
                "f5a2b27c74355872eb3ef6c5feafaa740e6ae990d9d48c3bd9bb8235e589f010", "58d2240f580a31c1d24948e9", "", "",
                "15e051a5e4a5f5da6cea92e2ebee5bac", ""
            ),
            (
                "e5a8123f2e2e007d4e379ba114a2fb66e6613f57c72d4e4f024964053028a831", "51e43385bf533e168427e1ad", "", "",
                "38fe845c66e66bdd884c2aecafd280e6", nil
            ),
            (
                "54e352ea1d84bfe64a1011096111fbe7668ad2203d902a01458c3bbd85bfce14", "df7c3bca00396d0c018495d9",
                "426e0efc693b7be1f3018db7ddbb7e4d", "7e968d71b50c1f11fd001f3fef49d045",
                "ee8257795be6a1164d7e1d2d6cac77a7", "85fc3dfad9b5a8d3258e4fc44571bd3b"
            ),
            (
                "8b37c4b8cf634704920059866ad96c49e9da502c63fca4a3a7a4dcec74cb0610", "cb59344d2b06c4ae57cd0ea4",
                "66ab935c93555e786b775637a3", "", "d8733acbb564d8afaa99d7ca2e2f92a9", nil
            ),
        ] as [(String, String, String, String, String, String?)])
    func `what the standard has sealed opens, unless its tag is wrong`(
        key: String, nonce: String, text: String, place: String, tag: String, value: String?
    ) throws {
        let key = try #require(SealingKey(bytes(key)))
        #expect(key.open(bytes(nonce + text + tag), for: bytes(place)) == value.map(bytes))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 4096])
    func `a sealed value opens in its place alone, whole and with its key`(count: Int) throws {
        let key = try #require(SealingKey(SecureRandom.bytes(32)))
        let value = SecureRandom.bytes(count)
        let sealed = try #require(key.seal(value, for: "here".utf8, after: [1, 2]))
        #expect(sealed.count == 2 + count + SealingKey.overhead && sealed.prefix(2) == [1, 2])
        let box = Array(sealed.dropFirst(2))
        #expect(key.open(box, for: "here".utf8) == value)
        #expect(key.open(sealed.dropFirst(2), for: Array("here".utf8)) == value)
        #expect(key.open(box, for: "there".utf8) == nil)
        #expect(key.open(box, for: []) == nil)
        #expect(key.open(box.dropLast(), for: "here".utf8) == nil)
        #expect(key.open(box + [0], for: "here".utf8) == nil)
        #expect(try #require(SealingKey(SecureRandom.bytes(32))).open(box, for: "here".utf8) == nil)
        for place in [0, 11, 12, box.count - 17, box.count - 16, box.count - 1] where place >= 0 {
            var changed = box
            changed[place] ^= 1
            #expect(key.open(changed, for: "here".utf8) == nil)
        }
        #expect(key.seal(value, for: "here".utf8)?.prefix(12) != box.prefix(12))
    }

    @Test(arguments: [0, 1, 27])
    func `too few bytes to be sealed ones do not open`(count: Int) throws {
        #expect(
            try #require(SealingKey([UInt8](repeating: 0, count: 32))).open(SecureRandom.bytes(count), for: []) == nil)
    }

    @Test func `a key of another length is none, and a key is what was given`() {
        #expect(SealingKey(SecureRandom.bytes(31)) == nil && SealingKey(SecureRandom.bytes(33)) == nil)
        #expect(SealingKey(Array(0..<32))?.bytes == Array(0..<32))
    }

    @Test(
        arguments: [
            ([], [], true), ([1], [1], true), ([1], [2], false), ([1], [1, 1], false), ([1], [], false),
        ] as [([UInt8], [UInt8], Bool)])
    func `equal bytes are equal`(one: [UInt8], other: [UInt8], isEqual: Bool) {
        #expect(isEqualInConstantTime(one, other) == isEqual)
    }

    @Test func `random bytes are as many as were asked for, and others each time`() {
        #expect(SecureRandom.bytes(0).isEmpty)
        #expect(SecureRandom.bytes(32).count == 32 && SecureRandom.bytes(32) != SecureRandom.bytes(32))
    }
}
