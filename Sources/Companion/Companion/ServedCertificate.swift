import CompanionCore
import CompanionSignIn
import Foundation
import Logging
import SessionStore
import Synchronization
import TLS

/// The certificate with which the server speaks https. Its files are looked at again and again, so that a renewal needs no
/// restart. Where new ones cannot be used, the certificate before stays.
final class ServedCertificate: Sendable {
    /// The reason for which the server cannot start.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        /// Of the files when they were read last.
        var stamps: [FileStamp?]
        /// The end of the certificate that is used.
        var expires: Date
        /// The reason why the files that are there are not used.
        var problem: String?
        var isReported = false
    }

    /// For new connections.
    let certificate: ServerCertificate
    private let files: TLSFiles
    private let logger: Logger
    private let now: @Sendable () -> Date
    private let state: Mutex<State>
    private let watching = Mutex<Task<Void, Never>?>(nil)

    /// Reads the files.
    ///
    /// - Throws: ``Unusable`` where one cannot be read, or they do not belong together.
    init(_ files: TLSFiles, logger: Logger, now: @escaping @Sendable () -> Date) throws {
        let stamps = files.stamps
        do {
            let pair = try files.read()
            certificate = try ServerCertificate(chain: pair.chain, privateKey: pair.privateKey)
            state = Mutex(State(stamps: stamps, expires: try Self.end(of: pair.chain)))
        } catch {
            throw Unusable(description: "tls.certificate_file and tls.private_key_file: \(error)")
        }
        (self.files, self.logger, self.now) = (files, logger, now)
    }

    private static func end(of chain: [UInt8]) throws -> Date {
        Date(timeIntervalSince1970: TimeInterval(try CertificateFacts(chain: chain, host: "").validity.upperBound))
    }

    /// When it expires.
    var expires: Date { state.withLock(\.expires) }

    /// The reason to replace the certificate or its files: a sentence for the operator. nil where all is well.
    var problem: String? {
        let (expires, problem) = state.withLock { ($0.expires, $0.problem) }
        if let problem { return problem }
        return expires > now() ? nil : "expired on \(Timeline.text(expires))"
    }

    /// Looks at the files from now on, as often as a renewal may be late.
    func watch(every interval: Duration = .seconds(10)) {
        let task = Task { [weak self] in
            while (try? await Task.sleep(for: interval)) != nil { self?.look() }
        }
        watching.withLock { $0 = task }
    }

    func stopWatching() { watching.withLock { $0?.cancel() } }

    /// Uses the files where they have changed.
    func look() {
        let stamps = files.stamps
        let before = state.withLock { $0 }
        guard stamps != before.stamps || before.problem != nil && !before.isReported else { return }
        var next = before
        next.stamps = stamps
        do {
            let pair = try files.read()
            let end = try Self.end(of: pair.chain)
            try certificate.replace(chain: pair.chain, privateKey: pair.privateKey)
            (next.expires, next.problem, next.isReported) = (end, nil, false)
            logger.notice("The certificate was renewed. It expires on \(Timeline.text(end)).")
        } catch {
            next.problem = "The new certificate is not used: \(error)"
            // One of the two files is written before the other. What lasts is a mistake.
            next.isReported = stamps == before.stamps
            if next.isReported { logger.error("\(next.problem ?? ""). The one before stays in use.") }
        }
        state.withLock { $0 = next }
    }
}
