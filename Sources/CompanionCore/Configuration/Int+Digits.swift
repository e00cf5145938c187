extension Int {
    /// The number that decimal digits alone write; nil for signs, which the standard initializer takes, and for nothing.
    package init?(digits text: some StringProtocol) {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else { return nil }
        self = number
    }
}
