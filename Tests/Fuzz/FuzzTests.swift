import Foundation
import TestSupport
import Testing

@testable import OpenIDConnect

/// The inputs that the fuzzer found, and mutations of them, fed to the same oracles. `Tests/Fuzz/run` finds more.
@Suite("Fuzzing", .timeLimit(.minutes(5)))
struct FuzzTests {
    @Test(arguments: FuzzTarget.all)
    func `every input of the corpus keeps its parser's laws`(_ target: FuzzTarget) async throws {
        let inputs = try Corpus(of: target).inputs
        #expect(inputs.count > 4)
        for input in inputs + [[]] {
            await #expect(throws: Never.self, "\(Self.shown(input))") { try await target.check(input) }
        }
    }

    @Test(arguments: FuzzTarget.all)
    func `mutations of the corpus keep the parser's laws`(_ target: FuzzTarget) async throws {
        let inputs = try Corpus(of: target).inputs
        var choices = SeededGenerator(seed: 1)
        for round in 0..<2000 {
            let input = try Self.mutated(#require(inputs.randomElement(using: &choices)), inputs, &choices)
            await #expect(throws: Never.self, "round \(round): \(Self.shown(input))") { try await target.check(input) }
        }
    }

    @Test func `the tokens that the sample keys signed are good, and changing any byte makes them bad`() async throws {
        let keys = SigningKey.samples
        #expect(keys.count == 2)
        for text in SampleProvider.signedTokens {
            let token = try SignedToken(parsing: text)
            let isGood = keys.contains {
                $0.isValidSignature(token.signature, of: token.signingInput, algorithm: token.algorithm)
            }
            #expect(isGood, "\(token.algorithm)")
            let target = try #require(FuzzTarget.ofOpenIDConnect.first { $0.name == "jwt" })
            for place in stride(from: 0, to: text.utf8.count, by: 7) {
                var bytes = Array(text.utf8)
                bytes[place] ^= 1
                await #expect(throws: Never.self, "byte \(place)") { try await target.check(bytes) }
            }
        }
    }

    @Test func `there is a corpus for every target and for nothing else`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Corpus")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(Set(files) == Set(FuzzTarget.all.map { $0.name + ".txt" }))
        #expect(FuzzTarget.all.count == Set(FuzzTarget.all.map(\.name)).count)
    }

    @Test func `an oracle that disagrees fails the check`() async throws {
        let liar = FuzzTarget(name: "liar") { input in try agree(input.count, 0, "Inputs are empty") }
        await #expect(throws: Disagreement.self) { try await liar.check([1]) }
        await #expect(throws: Never.self) { try await liar.check([]) }
    }

    @Test func `a line of a corpus is unescaped to its input`() {
        let line = #"a\\b\n\r\t\x00\xfF"#
        #expect(Corpus.unescaped(line[...].utf8) == Array("a\\b\n\r\t\0".utf8) + [0xFF])
    }

    private static func shown(_ input: [UInt8]) -> String { String(decoding: input, as: UTF8.self).debugDescription }

    private static func mutated(
        _ input: [UInt8], _ others: [[UInt8]], _ choices: inout SeededGenerator
    ) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...4, using: &choices) {
            let place = Int.random(in: 0...bytes.count, using: &choices)
            let count = Int.random(in: 0...(bytes.count - place), using: &choices)
            switch Int.random(in: 0..<5, using: &choices) {
            case 0: bytes.insert(UInt8.random(in: 0...255, using: &choices), at: place)
            case 1: bytes.removeSubrange(place..<(place + min(count, 4)))
            case 2: bytes.removeSubrange(place...)
            case 3: bytes.insert(contentsOf: bytes[place..<(place + count)], at: place)
            default: bytes += others.randomElement(using: &choices) ?? []
            }
        }
        return bytes
    }
}
