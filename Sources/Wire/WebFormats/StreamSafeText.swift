extension String {
    /// Whether at most 30 combining marks follow each other (the Stream-Safe Text Format, Unicode Standard Annex #15
    /// section 13), which is true of texts in all real languages. Comparing or hashing a longer run takes quadratic
    /// time.
    public var isStreamSafe: Bool {
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return true }
        var marks = 0
        for scalar in unicodeScalars {
            marks = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : marks + 1
            if marks > 30 { return false }
        }
        return true
    }
}
