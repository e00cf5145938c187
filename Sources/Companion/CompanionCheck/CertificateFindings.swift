import CompanionCore
import Foundation
import TLS

/// Finds problems of the certificate with which the server speaks https itself.
struct CertificateFindings {
    /// From so many days before its end on, a renewal is late. Authorities whose certificates last 90 days, or 45, renew them
    /// after two thirds of that time.
    private static let daysToWarn = 14

    let files: TLSFiles
    let host: String
    let now: Date

    var all: [CheckFinding] {
        let why = "The server does not start without its certificate."
        let pair: (chain: [UInt8], privateKey: [UInt8])
        do {
            pair = try files.read()
        } catch {
            return [
                .mistake(
                    Self.subject, "\(error.description).", why: why,
                    remedy:
                        "Put certificate and key where the user who runs the server may read them, for example with a hook of the program that renews them, or change tls.certificate_file and tls.private_key_file."
                )
            ]
        }
        do {
            _ = try ServerCertificate(chain: pair.chain, privateKey: pair.privateKey)
            let facts = try CertificateFacts(chain: pair.chain, host: host)
            let found = [validity(facts), name(facts), trust(facts), access].compactMap(\.self)
            return found.isEmpty ? [good(facts)] : found
        } catch {
            return [
                .mistake(
                    Self.subject, "In \(files.certificate) and \(files.privateKey), \(error.description).", why: why,
                    remedy:
                        "Give both files of one certificate: the chain (often fullchain.pem) as tls.certificate_file, and its key without a password (often privkey.pem) as tls.private_key_file."
                )
            ]
        }
    }

    private static let subject = "certificate"

    private func good(_ facts: CertificateFacts) -> CheckFinding {
        .good(
            Self.subject,
            "The server's certificate is for \(facts.names), until \(Self.day(facts.validity.upperBound)).")
    }

    private func validity(_ facts: CertificateFacts) -> CheckFinding? {
        let left = facts.validity.upperBound - Int64(now.timeIntervalSince1970)
        let remedy = "Renew it. The server reads the files again by itself within ten seconds."
        let why = "Browsers refuse a certificate outside of its time, and nobody reaches the server."
        if Int64(now.timeIntervalSince1970) < facts.validity.lowerBound {
            return .mistake(
                Self.subject, "The server's certificate is valid only from \(Self.day(facts.validity.lowerBound)) on.",
                why: why, remedy: "Set this machine's clock, or use a certificate that is valid now.")
        }
        if left <= 0 {
            return .mistake(
                Self.subject, "The server's certificate expired on \(Self.day(facts.validity.upperBound)).", why: why,
                remedy: remedy)
        }
        guard left < Int64(Self.daysToWarn) * 86_400 else { return nil }
        return .advice(
            Self.subject, "The server's certificate expires on \(Self.day(facts.validity.upperBound)).", why: why,
            remedy: remedy + " If a program should have renewed it, look at that program's log.")
    }

    private func name(_ facts: CertificateFacts) -> CheckFinding? {
        guard !facts.isForHost else { return nil }
        let names = facts.names.isEmpty ? "no name" : facts.names
        return .mistake(
            Self.subject, "The server's certificate is for \(names), but public_url has the host \(host).",
            why: "Browsers refuse a certificate for another name, and nobody reaches the server.",
            remedy: "Get a certificate for \(host), or change public_url.")
    }

    private func trust(_ facts: CertificateFacts) -> CheckFinding? {
        guard let distrust = facts.distrust else { return nil }
        return .advice(
            Self.subject, "This machine does not trust the server's certificate: \(distrust).",
            why: "Browsers that trust the same authorities as this machine refuse it.",
            remedy:
                "Put the certificates that issued it into tls.certificate_file, behind its own (often fullchain.pem). This is fine if it comes from an authority of your own, which every device trusts."
        )
    }

    private var access: CheckFinding? {
        ApplicationFindings.access(to: files.privateKey, why: "Anyone who has it can pretend to be this server.")
    }

    private static func day(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).day
    }
}
