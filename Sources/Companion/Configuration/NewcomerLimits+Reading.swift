import SessionStore

extension ConfigurationReading {
    /// `limits.pending_sign_ins`, `limits.pending_megabytes` and `limits.free_megabytes`.
    mutating func newcomerLimits() -> SessionStore.NewcomerLimits {
        var limits = SessionStore.NewcomerLimits()
        limits.signIns = number("limits.pending_sign_ins", to: 100_000_000) ?? limits.signIns
        limits.bytes = number("limits.pending_megabytes", to: 1 << 20).map { $0 << 20 } ?? limits.bytes
        limits.freeBytes = number("limits.free_megabytes", to: 1 << 20).map { $0 << 20 } ?? limits.freeBytes
        return limits
    }
}
