import Foundation

extension Date {
    /// The time in milliseconds since 1970, as the database stores it. A time out of range becomes the nearest value in
    /// range.
    package var milliseconds: Int64 {
        let value = (timeIntervalSince1970 * 1000).rounded()
        if value.isNaN { return 0 }
        return Int64(exactly: value) ?? (value < 0 ? .min : .max)
    }

    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

extension Duration {
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow
            ? (seconds < 0 ? .min : .max)
            : product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000).partialValue
    }
}
