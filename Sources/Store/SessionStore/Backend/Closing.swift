/// Runs `body` with something that must be closed, and closes it whether `body` returns or throws.
///
/// - Parameter close: closes the store or the backend.
/// - Returns: what `body` returns.
package func closing<Value>(_ close: () async -> Void, after body: () async throws -> Value) async rethrows -> Value {
    do {
        let value = try await body()
        await close()
        return value
    } catch {
        await close()
        throw error
    }
}
