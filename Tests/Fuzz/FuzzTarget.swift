/// A parser under test, with the oracle that judges what it makes of some bytes.
///
/// The fuzzer (`Tests/Fuzz/run`) and the ordinary tests (`FuzzTests`) call the same `check`.
struct FuzzTarget: Sendable, CustomStringConvertible {
    /// The name of its corpus and dictionary.
    let name: String
    /// Throws a ``Disagreement`` when the parser breaks one of its laws.
    let check: @Sendable ([UInt8]) async throws -> Void

    var description: String { name }

    static let all =
        ofWebFormats + ofCryptography + ofHTTPWire + ofOpenIDConnect + ofLanguages + ofCompanion + ofTenantControl
        + ofTenantGraph + ofTenantSignIn + ofTenantServer
}

/// A law that some bytes break.
struct Disagreement: Error, CustomStringConvertible {
    let description: String
}

/// Throws when the two are not the same.
func agree<Value: Equatable>(_ left: Value, _ right: Value, _ law: @autoclosure () -> String) throws(Disagreement) {
    guard left != right else { return }
    throw Disagreement(description: "\(law()): \(left) is not \(right)")
}

/// Throws when `condition` is false.
func hold(_ condition: Bool, _ law: @autoclosure () -> String) throws(Disagreement) {
    guard !condition else { return }
    throw Disagreement(description: law())
}

/// The lines of an input that has several fields, without their line feeds.
func lines(_ input: [UInt8]) -> [ArraySlice<UInt8>] {
    input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
}
