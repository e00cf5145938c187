import TenantDirectory

extension PlatformError {
    /// The option of a list of errors: the number and a few words, in English like the message.
    var option: String { "\(prefix)\(number): \(Self.words[number] ?? message)" }

    /// Whether it comes from a user flow or a custom policy of Azure AD B2C.
    var isOfUserFlow: Bool { prefix == Self.userFlowPrefix }

    private static let words = [
        16000: "more than one account",
        50011: "redirect URI not registered",
        50020: "account of another tenant",
        50034: "account not in the directory",
        50055: "password expired",
        50057: "account disabled",
        50058: "nobody is signed in",
        50076: "second factor needed",
        50079: "second factor not set up",
        50105: "not assigned to the application",
        50173: "sessions revoked",
        50194: "application not multi-tenant",
        50196: "request loop",
        53000: "device not compliant",
        53001: "device not domain-joined",
        53003: "blocked by a policy",
        53005: "app protection needed",
        54005: "code used before",
        65001: "consent missing",
        65004: "consent declined",
        70008: "code expired",
        70011: "scope not valid",
        70043: "sign-in frequency reached",
        90002: "tenant not found",
        90033: "transient error",
        90077: "nobody is signed in",
        90091: "user flow cancelled",
        90094: "an administrator has to consent",
        90118: "password forgotten",
        90273: "social sign-in cancelled",
        500_011: "API not in the tenant",
        500_112: "reply address differs",
        700_016: "application not found",
        700_025: "secret not allowed",
        700_027: "certificate not registered",
        700_082: "refresh token expired",
        7_000_215: "wrong secret",
        7_000_218: "secret missing",
        7_000_222: "secret expired",
    ]
}
