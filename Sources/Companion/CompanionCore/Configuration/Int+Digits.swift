extension Int {
    /// Parses a number that consists of decimal digits only; returns nil for an empty text and for signs, which the
    /// standard initializer accepts.
    package init?(digits text: some StringProtocol) {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else { return nil }
        self = number
    }
}
