/// The query of a sign-in's address, as far as the configuration has to know it.
package enum SignInFields {
    /// The fields that the companion understands by itself.
    package static let own: Set<String> = [
        "prompt", "max_age", "login_hint", "domain_hint", "scope", "policy", "tenant", "claims", "return_to",
        "automatic",
    ]
    /// MSAL's "prompt if necessary", which is no `prompt` parameter at the provider.
    package static let promptIfNecessary = "if_necessary"
}
