import Foundation
import Testing
import WebFormats

@testable import Cryptography

/// All the cases of NIST and of the RFCs for what we have, those that must fail among them.
@Suite(.enabled(if: Vectors.folder != nil, "\(Vectors.areMissing)")) struct PopulationTests {
    @Test(arguments: ["SHA256ShortMsg", "SHA256LongMsg"])
    func `SHA-256 of NIST's messages`(file: String) throws {
        let cases = try Vectors.cases("hashes/SHA2/\(file).rsp").filter { $0["MD"] != nil }
        #expect(cases.count >= 64)
        for row in cases {
            let message = row.bytes("Msg").prefix((Int(row["Len"] ?? "") ?? 0) / 8)
            #expect(Array(SHA256.hash(data: message)) == row.bytes("MD"))
        }
    }

    @Test func `HMAC of RFC 4231`() throws {
        let cases = try Vectors.cases("HMAC/rfc-4231-sha256.txt")
        #expect(cases.count >= 6)
        for row in cases {
            #expect(Array(AuthenticationKey(row.bytes("Key")).code(for: row.bytes("Msg"))) == row.bytes("MD"))
        }
    }

    @Test func `a derived key of 1200 bytes`() throws {
        let row = try #require(try Vectors.cases("KDF/hkdf-generated.txt").first)
        #expect(KeyDerivation.key(from: row.bytes("IKM"), for: [], count: 1200) == row.bytes("OKM"))
    }

    @Test func `AES-256-GCM of NIST`() throws {
        let cases = try Vectors.cases("ciphers/AES/GCM/gcmDecrypt256.rsp")
            .filter { $0["IVlen"] == "96" && $0["Taglen"] == "128" }
        var opened = 0
        for row in cases {
            let key = try #require(SealingKey(row.bytes("Key")))
            let value = key.open(row.bytes("IV") + row.bytes("CT") + row.bytes("Tag"), for: row.bytes("AAD"))
            #expect(value == (row["FAIL"] == nil ? row.bytes("PT") : nil))
            opened += value == nil ? 0 : 1
        }
        #expect(cases.count >= 300 && opened > 0 && opened < cases.count)
    }

    @Test(
        arguments: [
            ("SigVer15_186-3", SignatureScheme.rs256, nil), ("SigVerPSS_186-3", .ps256, "32 bytes"),
        ] as [(String, SignatureScheme, String?)])
    func `RSA signatures of NIST`(file: String, scheme: SignatureScheme, salt: String?) throws {
        var (modulus, checked, valid): ([UInt8], Int, Int) = ([], 0, 0)
        for row in try Vectors.cases("asymmetric/RSA/FIPS_186-2/\(file).rsp") {
            if row["n"] != nil { modulus = row.bytes("n") }
            guard row["SHAAlg"] == "SHA256", let result = row["Result"] else { continue }
            let bits = Int(row["mod"] ?? "") ?? 0
            guard let key = PublicKey(modulus: modulus, exponent: row.bytes("e")) else {
                // A changed exponent may be even, or too large.
                #expect(bits < 2048 || row.bytes("e").drop { $0 == 0 }.count > 4 || (row.bytes("e").last ?? 0) % 2 == 0)
                continue
            }
            // NIST's salts have ten bytes where they are given; ours must have 32.
            let isExpected = result.hasPrefix("P") && (scheme == .rs256 || row.bytes("SaltVal").count == 32)
            #expect(key.isSignature(row.bytes("S"), of: row.bytes("Msg"), scheme: scheme) == isExpected, "\(result)")
            (checked, valid) = (checked + 1, valid + (isExpected ? 1 : 0))
        }
        #expect(checked >= 12 && (valid > 0) == (scheme == .rs256))
    }

    @Test func `ECDSA signatures of NIST`() throws {
        let cases = try Vectors.cases("asymmetric/ECDSA/FIPS_186-3/SigVer.rsp").filter { $0["P-256,SHA-256"] != nil }
        #expect(cases.count == 15)
        for row in cases {
            func number(_ name: String) -> [UInt8] { padded(row.bytes(name)) }
            let key = PublicKey(x: number("Qx"), y: number("Qy"))
            let isValid = key?.isSignature(number("R") + number("S"), of: row.bytes("Msg"), scheme: .es256) ?? false
            #expect(isValid == row["Result"]?.hasPrefix("P"))
        }
    }

    @Test func `points of NIST that are not on the curve`() throws {
        let cases = try Vectors.cases("asymmetric/ECDSA/FIPS_186-3/PKV.rsp").filter { $0["P-256"] != nil }
        #expect(cases.count == 12)
        for row in cases {
            #expect(
                (PublicKey(x: padded(row.bytes("Qx")), y: padded(row.bytes("Qy"))) != nil)
                    == row["Result"]?.hasPrefix("P"))
        }
    }

    /// 32 bytes at least.
    private func padded(_ bytes: [UInt8]) -> [UInt8] { [UInt8](repeating: 0, count: max(0, 32 - bytes.count)) + bytes }

    /// The private keys that are accepted, of all those that people have written. Versions of OpenSSL differ about the last
    /// ones, whose keys are good and whose wrapping is not.
    @Test(
        arguments: [
            ("PEM_Serialization", ["ec_private_key.pem"], []),
            (
                "PKCS8", ["ec-consistent-curve.pem", "ec_private_key.pem", "ecc_private_with_rfc5915_ext.pem"],
                ["ec-inconsistent-curve2.pem", "ec-invalid-version.pem", "wrong-pem-delimiter-rsa.pem"]
            ),
            ("Traditional_OpenSSL_Serialization", ["testrsa.pem"], ["rsa-wrong-version.pem"]),
        ] as [(String, Set<String>, Set<String>)])
    func `private keys in PEM`(folder: String, accepted: Set<String>, doubtful: Set<String>) throws {
        let path = "\(try #require(Vectors.folder))/asymmetric/\(folder)"
        let read = try FileManager.default.contentsOfDirectory(atPath: path)
            .filter { $0.hasSuffix(".pem") }
            .filter { PrivateKey(pem: try Vectors.text("asymmetric/\(folder)/\($0)")) != nil }
        #expect(Set(read).subtracting(doubtful) == accepted)
    }

    @Test func `each certificate is read as DER has it, or not at all`() throws {
        let path = "\(try #require(Vectors.folder))/x509"
        let names = try #require(FileManager.default.enumerator(atPath: path)?.allObjects as? [String])
        var count = 0
        for name in names where name.hasSuffix(".pem") || name.hasSuffix(".crt") || name.hasSuffix(".der") {
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
            let isPEM = name.hasSuffix(".pem")
            guard
                let certificate = isPEM
                    ? try? Certificate(pem: String(decoding: data, as: UTF8.self)) : try? Certificate(der: Array(data))
            else { continue }
            count += 1
            #expect(isPEM || certificate.der == Array(data))
            #expect(try Certificate(pem: certificate.pem) == certificate)
            _ = (certificate.publicKey?.der, certificate.subject)
        }
        #expect(count > 300)
    }
}
