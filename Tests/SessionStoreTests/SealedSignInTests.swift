import Foundation
import StoreTesting
import Testing
import WebFormats

@testable import SessionStore

/// A sign-in as a browser keeps it.
@Suite(.closesStores) struct SealedSignInTests {
    private static let key: SessionKey = 7
    private static let id = SessionID(randomBytes: { count in (0..<count).map { UInt8(truncatingIfNeeded: $0) } })
    private static let browser = BegunSignIn.browser

    private static func attempt(payload: [UInt8]) -> NewSignInAttempt {
        var new = NewSignInAttempt.sample(state: "s1", returnTo: "/ios?x=ä")
        new.expectedAccountID = "uid.utid"
        new.payload = payload
        return new
    }

    @Test(arguments: [true, false], [[], Array(0...255)] as [[UInt8]])
    func `a sealed sign-in opens as it was`(hasSession: Bool, payload: [UInt8]) throws {
        let fixture = try StoreFixture(.memory)
        let store = try fixture.open()
        let new = Self.attempt(payload: payload)
        let kept = try #require(
            try store.seal(new, in: hasSession ? (key: Self.key, id: Self.id) : nil, for: Self.browser))
        #expect(kept.begunAt == fixture.clock.now)
        #expect(kept.text.wholeMatch(of: /[A-Za-z0-9_-]+/) != nil)
        fixture.clock.advance(by: .seconds(10))
        let again = try #require(SealedSignIn(kept.text))
        #expect(again.text == kept.text && again.begunAt == kept.begunAt)
        let begun = try #require(store.open(again, state: "s1", for: Self.browser))
        #expect(begun.app == new.app && begun.nonce == new.nonce && begun.codeVerifier == new.codeVerifier)
        #expect(begun.returnTo == new.returnTo && begun.prompt == new.prompt)
        #expect(begun.requestedScopes == new.requestedScopes && begun.expectedAccountID == "uid.utid")
        #expect(begun.payload == payload)
        #expect(begun.begunAt == kept.begunAt)
        #expect(begun.origin == (hasSession ? .init(session: Self.key, idHash: Self.id.hash) : nil))
        #expect(begun.isOfNewcomer != hasSession)
        var shown = "\(begun) \(kept)"
        dump(begun, to: &shown)
        dump(new, to: &shown)
        for secret in ["nonce-of", "verifier-of", "uid.utid", "/ios?x"] {
            #expect(!shown.contains(secret), "\(secret)")
        }
        // The same text in the same place.
        let other = try store.seal(new, in: nil, for: Self.browser)
        #expect(other?.text != kept.text)
    }

    @Test func `a sealed sign-in opens only for its state and browser, and where the keys are`() throws {
        let store = try StoreFixture(.memory).open()
        let kept = try #require(try store.seal(Self.attempt(payload: [1]), in: nil, for: Self.browser))
        #expect(store.open(kept, state: "s1", for: Self.browser) != nil)
        for state in ["", "s2", "s1 ", "S1"] { #expect(store.open(kept, state: state, for: Self.browser) == nil) }
        for browser in [[], [0], Self.browser + [0], Array(Self.browser.dropLast())] as [[UInt8]] {
            #expect(store.open(kept, state: "s1", for: browser) == nil)
        }
        #expect(try StoreFixture(.memory).open().open(kept, state: "s1", for: Self.browser) == nil)
    }

    @Test func `a changed, cut or lengthened text never opens`() throws {
        let store = try StoreFixture(.memory).open()
        let kept = try #require(try store.seal(Self.attempt(payload: []), in: nil, for: Self.browser))
        let bytes = try #require(Base64URL.decode(kept.text.utf8))
        func opens(_ bytes: some Sequence<UInt8>) -> Bool {
            SealedSignIn(Base64URL.encode(Array(bytes))).flatMap {
                store.open($0, state: "s1", for: Self.browser)
            } != nil
        }
        #expect(opens(bytes))
        // Also in the time, which anyone can read, and in the version and the key's name.
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = Array(bytes)
                changed[index] ^= 1 << UInt8(bit)
                #expect(!opens(changed), "bit \(bit) of byte \(index)")
            }
        }
        for count in 0..<bytes.count { #expect(!opens(bytes.prefix(count)), "\(count) bytes") }
        for more in [[0], [255], Array(repeating: 1, count: 100)] as [[UInt8]] { #expect(!opens(bytes + more)) }
        for text in ["", "=", "ä", kept.text + "=", " " + kept.text, String(repeating: "A", count: 5000)] {
            #expect(SealedSignIn(text) == nil, "\(text.prefix(20))")
        }
    }

    @Test func `an attempt of another version, or one that was cut before it was sealed, does not open`() throws {
        let begun = BegunSignIn(Self.attempt(payload: [1]), origin: nil, begunAt: Date(milliseconds: 5))
        let packed = begun.packed
        #expect(BegunSignIn(packed: packed, state: begun.stateHash, begunAt: 5)?.payload == [1])
        for count in 0..<packed.count {
            #expect(BegunSignIn(packed: packed.prefix(count), state: begun.stateHash, begunAt: 5) == nil, "\(count)")
        }
        for version in [0, 1, 3, 4, 5, 6] as [UInt8] {
            #expect(BegunSignIn(packed: [version] + packed.dropFirst(), state: begun.stateHash, begunAt: 5) == nil)
        }
    }

    @Test func `a sign-in that does not fit into a cookie is refused`() throws {
        let store = try StoreFixture(.memory).open()
        func kept(_ count: Int) throws -> SealedSignIn? {
            try store.seal(
                Self.attempt(payload: Array(repeating: 1, count: count)), in: (key: Self.key, id: Self.id),
                for: Self.browser)
        }
        let overhead = try #require(try kept(200)).sealed.count - 200
        let most = SealedSignIn.maxBytes - overhead
        let largest = try #require(try kept(most))
        #expect(largest.sealed.count == 2900)
        #expect(largest.text.utf8.count < 3_950)
        #expect(try #require(SealedSignIn(largest.text)).text == largest.text)
        #expect(try kept(most + 1) == nil)
    }

    @Test func `a sealed sign-in opens after a rotation, and no longer when its key is retired`() async throws {
        let fixture = try StoreFixture(.memory)
        let store = try fixture.open()
        let kept = try #require(try store.seal(Self.attempt(payload: []), in: nil, for: Self.browser))
        _ = try KeyRing.rotate(fileAt: fixture.keyPath)
        _ = store.sealer.reloadIfChanged()
        #expect(store.open(kept, state: "s1", for: Self.browser) != nil)
        try fixture.setKeyFileBack()
        #expect(try await store.retireOlderKeys().retired.count == 1)
        #expect(store.open(kept, state: "s1", for: Self.browser) == nil)
    }
}

/// Bytes that are signed for those who bring them back.
@Suite(.closesStores) struct SignedTests {
    @Test func `a state is ours for half an hour, and no two are alike`() throws {
        let fixture = try StoreFixture(.memory)
        let store = try fixture.open()
        let state = store.newState()
        #expect(state.utf8.count <= 64)
        #expect(store.newState() != state)
        #expect(store.isOwn(state: state))
        fixture.clock.advance(by: .seconds(1800))
        #expect(store.isOwn(state: state))
        fixture.clock.advance(by: .seconds(1))
        #expect(!store.isOwn(state: state))
    }

    @Test func `a state that was changed, or that another installation made, is not ours`() throws {
        let store = try StoreFixture(.memory).open()
        let bytes = try #require(Base64URL.decode(store.newState().utf8))
        #expect(store.isOwn(state: Base64URL.encode(Array(bytes))))
        for index in bytes.indices {
            var changed = Array(bytes)
            changed[index] ^= 1
            #expect(!store.isOwn(state: Base64URL.encode(changed)), "byte \(index)")
        }
        for count in 0..<bytes.count { #expect(!store.isOwn(state: Base64URL.encode(Array(bytes.prefix(count))))) }
        #expect(!store.isOwn(state: Base64URL.encode(Array(bytes) + [0])))
        for text in ["", "s1", "ä", String(repeating: "A", count: 10_000)] { #expect(!store.isOwn(state: text)) }
        #expect(!store.isOwn(state: try StoreFixture(.memory).open().newState()))
    }

    @Test func `a signature of an older key is good until that key is retired`() async throws {
        let fixture = try StoreFixture(.memory)
        let store = try fixture.open()
        let state = store.newState()
        let signature = store.sign([1, 2], as: .browser)
        _ = try KeyRing.rotate(fileAt: fixture.keyPath)
        _ = store.sealer.reloadIfChanged()
        #expect(store.isOwn(state: state) && store.isSigned([1, 2], as: .browser, by: signature))
        #expect(store.isOwn(state: store.newState()))
        #expect(store.sign([1, 2], as: .browser) != signature)
        try fixture.setKeyFileBack()
        _ = try await store.retireOlderKeys()
        #expect(!store.isOwn(state: state) && !store.isSigned([1, 2], as: .browser, by: signature))
    }

    @Test func `a signature is good for its bytes and its purpose alone`() throws {
        let store = try StoreFixture(.memory).open()
        let signature = store.sign([1, 2, 3], as: .browser)
        #expect(signature.count == SignedPurpose.byteCount)
        #expect(store.isSigned([1, 2, 3], as: .browser, by: signature))
        #expect(!store.isSigned([1, 2, 3], as: .state, by: signature))
        for bytes in [[], [1, 2], [1, 2, 4], [1, 2, 3, 0], [0, 1, 2, 3]] as [[UInt8]] {
            #expect(!store.isSigned(bytes, as: .browser, by: signature))
        }
        for wrong in [[], Array(signature.dropLast()), signature + [0], signature.reversed()] as [[UInt8]] {
            #expect(!store.isSigned([1, 2, 3], as: .browser, by: wrong))
        }
        #expect(store.sign([], as: .state) != store.sign([], as: .browser))
    }
}
