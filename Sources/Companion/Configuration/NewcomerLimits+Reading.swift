import SessionStore

extension ConfigurationReading {
    /// `limits.pending_sign_ins`, `limits.pending_megabytes` and `limits.free_megabytes`.
    mutating func newcomerLimits() -> SessionStore.NewcomerLimits {
        var limits = SessionStore.NewcomerLimits()
        limits.signIns = wholeNumber("limits.pending_sign_ins", most: 100_000_000) ?? limits.signIns
        limits.bytes = wholeNumber("limits.pending_megabytes", most: 1 << 20).map { $0 << 20 } ?? limits.bytes
        limits.freeBytes = wholeNumber("limits.free_megabytes", most: 1 << 20).map { $0 << 20 } ?? limits.freeBytes
        return limits
    }

    private mutating func wholeNumber(_ key: String, most: Int) -> Int? {
        guard let value = text(key) else { return nil }
        if let number = Int(value), (0...most).contains(number) { return number }
        mistakes.add(key, "must be a whole number from 0 (no limit) to \(most), not “\(value)”")
        return nil
    }
}
