/// The APIs that the owners of the tenants run themselves, outside Graph.
package enum OwnAPI: String, Sendable, CaseIterable {
    case external, b2c
    /// An API that demands an authentication context.
    case payroll

    /// The audience of its tokens.
    package var audience: String {
        switch self {
        case .external: "api://fabrikam.example"
        case .b2c: "https://fabrikamb2c.example/api"
        case .payroll: "api://payroll.contoso.example"
        }
    }

    /// The scope that it requires.
    package var scope: String {
        switch self {
        case .external: "tasks.read"
        case .b2c: "demo.read"
        case .payroll: "payslips.read"
        }
    }

    /// The authentication context that it demands.
    package var requiredContext: String? { self == .payroll ? "c1" : nil }

    /// - Parameter audience: The audience of a token.
    package init?(audience: String) {
        guard let api = Self.allCases.first(where: { $0.audience == audience }) else { return nil }
        self = api
    }
}
