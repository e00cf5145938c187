import Foundation
import TestSupport

@testable import Companion
@testable import CompanionCore

/// The input is a configuration file. What it says of the whole server, the environment can say as well, to the same end.
@Sendable func checkConfiguration(_ input: [UInt8]) throws(Disagreement) {
    try checkAddresses(input)
    // A file of this call's own: the fuzzer runs several processes, and the tests several of these at once.
    let scratchFile = TemporaryFolder.ofProcess.appendingPathComponent(
        "companion-fuzz-\(UUID().uuidString).yaml")
    do {
        try Data(input).write(to: scratchFile)
    } catch {
        throw Disagreement(description: "Cannot write \(scratchFile.path): \(error)")
    }
    // The order of `dump` is that of the declarations: equal configurations have equal texts.
    var mistakes = ConfigurationMistakes()
    let file = ConfigurationFile(path: scratchFile.path, mistakes: &mistakes)
    try hold(Set(file.keys).count <= file.values.count || !mistakes.all.isEmpty, "Every key has a value")
    let first = outcome(file: scratchFile.path)
    try hold(mistakes.all.allSatisfy { first.contains($0.reason) }, "The file's mistakes are reported")

    // Lists, paths (which are relative to the file), secrets, applications and keys without a value differ by design.
    guard mistakes.all.isEmpty, file.names.isEmpty, file.withoutValue.isEmpty else { return }
    var environment: [String: String] = [:]
    for key in file.keys {
        guard case .text(let text) = file.values[key], !text.isEmpty,
            let setting = CompanionConfiguration.settings.first(where: { $0.key == key }), setting.form == .text
        else { return }
        environment[setting.environmentName] = text
    }
    guard environment.count == file.keys.count else { return }
    for (ours, theirs) in zip(outcome(environment: environment).split(separator: "\n"), first.split(separator: "\n")) {
        // Only a file has lines.
        let same = [ours, theirs].map { $0.replacing(#/ \(line \d+\)$/#, with: "") }
        try agree(same[0], same[1], "The environment says the same as the file")
    }
}

private func outcome(environment: [String: String] = [:], file: String? = nil) -> String {
    do throws(ConfigurationMistakes) {
        var configuration = try CompanionConfiguration.read(
            environment: environment, file: file, needsApplications: false)
        // Only one of the two has one.
        configuration.file = nil
        var description = ""
        dump(configuration, to: &description)
        return description
    } catch {
        return error.description
    }
}

/// The text behind the first space of each line, as an address of any kind. Another reader sees the same.
private func checkAddresses(_ input: [UInt8]) throws(Disagreement) {
    for line in lines(input) {
        let text = String(decoding: line.drop { $0 != 0x20 }.dropFirst(), as: UTF8.self)
        let last = text.utf8.split(whereSeparator: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }).last
        let endsInDigits = last?.allSatisfy { (0x30...0x39).contains($0) } ?? false
        if let url = try? PublicURL(text) { try checkPublicURL(url, text) }
        if let address = ListenAddress(text) {
            try hold((0...65535).contains(address.port) && endsInDigits, "A port is a number")
            let host = address.host.contains(":") ? "[\(address.host)]" : address.host
            try agree(ListenAddress("\(host):\(address.port)"), address, "An address to listen on is what it prints")
        }
        if let range = AddressRange(text) {
            let address = text.split(separator: "/").first.map(String.init) ?? ""
            try hold(range.contains(address), "\(text) holds its own address")
            try hold(!text.contains("/") || endsInDigits, "A prefix is a number")
        }
    }
}

private func checkPublicURL(_ url: PublicURL, _ text: String) throws(Disagreement) {
    try agree(try? PublicURL(url.address), url, "A public URL is its address")
    guard let theirs = URLComponents(string: text) else {
        throw Disagreement(description: "Foundation refuses what we take as \(url.address)")
    }
    let port = theirs.port.flatMap { $0 == (url.isSecure ? 443 : 80) ? nil : $0 }
    let origin = "\(theirs.scheme?.lowercased() ?? "")://\(theirs.encodedHost?.lowercased() ?? "")"
    try agree(origin + (port.map { ":\($0)" } ?? ""), url.origin, "Foundation sees the same origin")
    try hold(theirs.user == nil && theirs.query == nil && theirs.fragment == nil, "Foundation sees no more")
}
