import Foundation
import SwiftASN1

/// The fields of an X.509 certificate (RFC 5280 section 4.1) that its owner needs. The certificate is not verified
/// here. Reading the fields with `swift-certificates` would make every build 50 seconds longer.
struct CertificateFields {
    /// The type of a PEM document that contains a certificate (RFC 7468 section 5).
    static let pemType = "CERTIFICATE"

    /// The `SubjectPublicKeyInfo`, DER-encoded.
    let publicKey: Data
    /// The end of its validity.
    let notValidAfter: Date

    /// - Parameter der: the certificate, DER-encoded.
    /// - Throws: when it is not a certificate.
    init(der: [UInt8]) throws {
        (publicKey, notValidAfter) = try DER.sequence(DER.parse(der), identifier: .sequence) { certificate in
            let signed = try Self.next(&certificate)
            // The signature's algorithm and value.
            while certificate.next() != nil {}
            return try DER.sequence(signed, identifier: .sequence) { fields in
                _ = try DER.optionalExplicitlyTagged(&fields, tagNumber: 0, tagClass: .contextSpecific) { $0 }
                // Serial number, algorithm, issuer.
                for _ in 0..<3 { _ = try Self.next(&fields) }
                let end = try DER.sequence(Self.next(&fields), identifier: .sequence) { validity in
                    _ = try Self.next(&validity)
                    return try Self.time(Self.next(&validity))
                }
                // Subject.
                _ = try Self.next(&fields)
                let key = try Self.next(&fields)
                // Unique identifiers and extensions.
                while fields.next() != nil {}
                return (Data(key.encodedBytes), end)
            }
        }
    }

    private static func next(_ nodes: inout ASN1NodeCollection.Iterator) throws -> ASN1Node {
        guard let node = nodes.next() else { throw CocoaError(.coderReadCorrupt) }
        return node
    }

    /// `Time`: UTCTime through 2049, GeneralizedTime later (RFC 5280 section 4.1.2.5).
    private static func time(_ node: ASN1Node) throws -> Date {
        var parts = DateComponents()
        parts.calendar = Calendar(identifier: .gregorian)
        parts.timeZone = .gmt
        if node.identifier == UTCTime.defaultIdentifier {
            let time = try UTCTime(derEncoded: node)
            (parts.year, parts.month, parts.day) = (time.year, time.month, time.day)
            (parts.hour, parts.minute, parts.second) = (time.hours, time.minutes, time.seconds)
        } else {
            let time = try GeneralizedTime(derEncoded: node)
            (parts.year, parts.month, parts.day) = (time.year, time.month, time.day)
            (parts.hour, parts.minute, parts.second) = (time.hours, time.minutes, time.seconds)
        }
        guard let date = parts.date else { throw CocoaError(.coderReadCorrupt) }
        return date
    }
}
