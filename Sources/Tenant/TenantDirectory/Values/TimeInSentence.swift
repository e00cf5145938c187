package import Foundation

extension Date {
    /// The time as the platform writes it into its sentences, with seven decimals (t2-rt-04, t2-cert-07). One from outside
    /// can be of any year; those that cannot be written become the first and the last that can.
    package var withSevenDecimals: String {
        let seconds = min(max(timeIntervalSince1970, -62_135_596_800), 253_402_300_799)
        let whole = seconds.rounded(.down)
        let decimals = "000000\(Int((seconds - whole) * 1e7))".suffix(7)
        return "\(Date(timeIntervalSince1970: whole).formatted(.iso8601).dropLast()).\(decimals)Z"
    }
}
