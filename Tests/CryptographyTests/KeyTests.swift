import Testing
import TestSupport
import WebFormats

@testable import Cryptography

@Suite struct KeyTests {
    private static let rsa = PrivateKey(.rsa)
    private static let point = PrivateKey(.p256)
    private static let message = Array("a message".utf8)

    private static func bytes(_ text: String) -> [UInt8] { Base64URL.decode(text.utf8) ?? [] }

    // RFC 7515 appendices A.2 and A.3.
    private static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let modulus = bytes(
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
    )
    private static let rsaSignature = bytes(
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
    )
    private static let x = bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
    private static let y = bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
    private static let pointSignature = bytes(
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")

    @Test func `the signatures of RFC 7515 are valid, and nothing near them is`() throws {
        let rsa = try #require(PublicKey(modulus: Self.modulus, exponent: [1, 0, 1]))
        let point = try #require(PublicKey(x: Self.x, y: Self.y))
        for (key, scheme, header, signature) in [
            (rsa, SignatureScheme.rs256, "eyJhbGciOiJSUzI1NiJ9", Self.rsaSignature),
            (point, .es256, "eyJhbGciOiJFUzI1NiJ9", Self.pointSignature),
        ] {
            let input = Array("\(header).\(Self.claims)".utf8)
            #expect(key.isSignature(signature, of: input, scheme: scheme))
            #expect(!key.isSignature(signature, of: input + [0], scheme: scheme))
            #expect(!key.isSignature(signature + [0], of: input, scheme: scheme))
            #expect(!key.isSignature([0] + signature, of: input, scheme: scheme))
            #expect(!key.isSignature(signature.dropLast(), of: input, scheme: scheme))
            #expect(!key.isSignature([], of: input, scheme: scheme))
            for other in SignatureScheme.allCases where other != scheme {
                #expect(!key.isSignature(signature, of: input, scheme: other))
            }
        }
        #expect(rsa.modulus == Self.modulus && rsa.exponent == [1, 0, 1] && rsa.x.isEmpty && rsa.y.isEmpty)
        #expect(point.x == Self.x && point.y == Self.y && point.modulus.isEmpty && point.exponent.isEmpty)
    }

    private static let numbers: [(String, [UInt8], [UInt8], Bool)] = [
        ("2048 bits", modulus, [1, 0, 1], true),
        ("a zero before them", [0] + modulus, [0, 1, 0, 1], true),
        ("the exponent 3", modulus, [3], true),
        ("an exponent of 33 bits", modulus, [1, 0, 0, 0, 1], true),
        ("an exponent of 34 bits", modulus, [2, 0, 0, 0, 1], false),
        ("an exponent of 2048 bits", modulus, modulus, false),
        ("the exponent 1", modulus, [1], false),
        ("the exponent 0", modulus, [0], false),
        ("no exponent", modulus, [], false),
        ("an even exponent", modulus, [1, 0, 0], false),
        ("an even modulus", Array(modulus.dropLast()) + [0], [1, 0, 1], false),
        ("2047 bits", [0x7F] + Array(modulus.dropFirst()), [1, 0, 1], false),
        ("2040 bits", Array(modulus.dropFirst()), [1, 0, 1], false),
        ("no modulus", [], [1, 0, 1], false),
        ("16384 bits", [0x80] + ones(2047), [1, 0, 1], true),
        ("16385 bits", ones(2049), [1, 0, 1], false),
        ("a megabyte", ones(1 << 20), [1, 0, 1], false),
    ]
    private static func ones(_ count: Int) -> [UInt8] { [UInt8](repeating: 1, count: count) }

    @Test(arguments: numbers)
    func `an RSA key has 2048 to 16384 bits and a small odd exponent above 1`(
        name: String, modulus: [UInt8], exponent: [UInt8], isAccepted: Bool
    ) {
        #expect((PublicKey(modulus: modulus, exponent: exponent) != nil) == isAccepted)
    }

    private static let points: [(String, [UInt8], [UInt8], Bool)] = [
        ("the point", x, y, true), ("exchanged", y, x, false),
        ("one beside the curve", x, Array(y.dropLast()) + [0xA1], false),
        ("short", Array(x.dropLast()), y, false), ("long", [0] + x, y, false),
        ("zero", [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32), false),
        ("beyond the field", [UInt8](repeating: 0xFF, count: 32), y, false),
    ]

    @Test(arguments: points)
    func `a point is on the curve`(name: String, x: [UInt8], y: [UInt8], isAccepted: Bool) {
        #expect((PublicKey(x: x, y: y) != nil) == isAccepted)
    }

    @Test(arguments: [(KeyKind.rsa, SignatureScheme.rs256), (.rsa, .ps256), (.p256, .es256)])
    func `a signature is valid for its key, its message and its scheme alone`(
        kind: KeyKind, scheme: SignatureScheme
    ) throws {
        let key = kind == .rsa ? Self.rsa : Self.point
        let signature = try #require(key.signature(of: Self.message, scheme: scheme))
        #expect(signature.count == (kind == .rsa ? 256 : 64))
        #expect(key.publicKey.isSignature(signature, of: Self.message, scheme: scheme))
        #expect(!PrivateKey(kind).publicKey.isSignature(signature, of: Self.message, scheme: scheme))
        for other in SignatureScheme.allCases where other != scheme {
            #expect(!key.publicKey.isSignature(signature, of: Self.message, scheme: other))
        }
        for place in signature.indices {
            var changed = signature
            changed[place] ^= 1
            #expect(!key.publicKey.isSignature(changed, of: Self.message, scheme: scheme))
        }
    }

    @Test func `a key of the other kind does not sign`() {
        #expect(Self.rsa.signature(of: Self.message, scheme: .es256) == nil)
        #expect(Self.point.signature(of: Self.message, scheme: .rs256) == nil)
        #expect(Self.point.signature(of: Self.message, scheme: .ps256) == nil)
    }

    @Test(arguments: [(0, false), (20, false), (31, false), (32, true), (33, false), (222, false)])
    func `OpenSSL's PS256 is valid with a salt of 32 bytes and no other`(salt: Int, isValid: Bool) throws {
        let folder = try TemporaryFolder(isMade: true)
        try folder.write(Self.rsa.pem, to: "key.pem")
        try folder.write(Self.message, to: "message")
        let signed = try openssl(
            "dgst", "-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:\(salt)", "-sign",
            "\(folder.path)/key.pem", "-out", "\(folder.path)/signature", "\(folder.path)/message")
        #expect(signed.status == 0)
        let signature = try folder.bytes("signature")
        #expect(Self.rsa.publicKey.isSignature(signature, of: Self.message, scheme: .ps256) == isValid)
    }

    @Test(arguments: [SignatureScheme.rs256, .ps256, .es256])
    func `OpenSSL accepts what we sign`(scheme: SignatureScheme) throws {
        let folder = try TemporaryFolder(isMade: true)
        let key = scheme == .es256 ? Self.point : Self.rsa
        try folder.write(key.publicKey.pem, to: "public.pem")
        try folder.write(Self.message, to: "message")
        var signature = try #require(key.signature(of: Self.message, scheme: scheme))
        if scheme == .es256 { signature = Self.der(signature) }
        try folder.write(signature, to: "signature")
        let padding = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32"]
        let answer = try openssl(
            ["dgst", "-sha256"] + (scheme == .ps256 ? padding : [])
                + ["-verify", "\(folder.path)/public.pem", "-signature", "\(folder.path)/signature"]
                + ["\(folder.path)/message"])
        #expect(answer.output.contains("Verified OK"), "\(answer.output)")
        if scheme == .es256 { #expect(!key.publicKey.isSignature(signature, of: Self.message, scheme: .es256)) }
    }

    /// The DER of r and s: two integers, each with a zero before a high bit, and none otherwise.
    private static func der(_ numbers: [UInt8]) -> [UInt8] {
        var integers: [UInt8] = []
        for number in [numbers.prefix(32), numbers.suffix(32)] {
            var value = Array(number.drop { $0 == 0 })
            if value.first.map({ $0 >= 0x80 }) ?? true { value.insert(0, at: 0) }
            integers += [2, UInt8(value.count)] + value
        }
        return [0x30, UInt8(integers.count)] + integers
    }

    @Test(arguments: [KeyKind.rsa, .p256])
    func `a key comes back from each form that is written`(kind: KeyKind) throws {
        let key = kind == .rsa ? Self.rsa : Self.point
        #expect(key.kind == kind)
        #expect(key.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n") && key.pem.hasSuffix("-----END PRIVATE KEY-----\n"))
        for read in [
            PrivateKey(pem: key.pem), PrivateKey(pem: "words\n" + key.pem), PrivateKey(der: key.traditionalDER),
        ] {
            #expect(read?.publicKey == key.publicKey && read?.traditionalDER == key.traditionalDER)
        }
        #expect(PublicKey(pem: key.publicKey.pem) == key.publicKey)
        #expect(PrivateKey(der: key.traditionalDER + [0]) == nil)
        #expect(PrivateKey(der: key.traditionalDER.dropLast()) == nil)
        #expect(PrivateKey(der: []) == nil && PrivateKey(pem: "") == nil && PublicKey(pem: "") == nil)
        #expect(PrivateKey(pem: key.publicKey.pem) == nil)
        #expect(PublicKey(pem: key.pem) == nil)
        #expect(PrivateKey(kind).publicKey != key.publicKey)
    }

    @Test(
        arguments: [
            ("PKCS #8", ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], true),
            ("3072 bits", ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"], true),
            ("PKCS #1", ["genrsa", "-traditional", "2048"], true),
            ("SEC 1, with its parameters before it", ["ecparam", "-name", "prime256v1", "-genkey"], true),
            ("an encrypted PKCS #8", ["genpkey", "-algorithm", "RSA", "-aes256", "-pass", "pass:p"], false),
            ("an encrypted PKCS #1", ["genrsa", "-traditional", "-aes128", "-passout", "pass:p", "2048"], false),
            ("1024 bits", ["genrsa", "1024"], false),
            ("another curve", ["ecparam", "-name", "secp384r1", "-genkey"], false),
            ("Ed25519", ["genpkey", "-algorithm", "ed25519"], false),
            ("an RSA key for PSS alone", ["genpkey", "-algorithm", "RSA-PSS"], false),
        ] as [(String, [String], Bool)])
    func `OpenSSL's keys are read if they are of ours, and never with a password`(
        name: String, command: [String], isAccepted: Bool
    ) throws {
        let folder = try TemporaryFolder(isMade: true)
        let made = try openssl([command[0], "-out", "\(folder.path)/key.pem"] + command.dropFirst())
        #expect(made.status == 0, "\(made.output)")
        #expect((PrivateKey(pem: try folder.text("key.pem")) != nil) == isAccepted)
    }
}
