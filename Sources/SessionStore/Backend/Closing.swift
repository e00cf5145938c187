/// Works with something, and closes it whatever comes of that.
///
/// - Parameter close: a store's or a backend's own.
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
