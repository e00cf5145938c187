/// The query parameters of a sign-in's address, as far as the configuration needs them.
package enum SignInFields {
    /// The parameters that the companion itself handles.
    package static let own: Set<String> = [
        "prompt", "max_age", "acr_values", "login_hint", "domain_hint", "scope", "policy", "tenant", "claims",
        "return_to",
        "automatic", "replay", "request",
    ]
    /// MSAL's "prompt if necessary", which sends no `prompt` parameter to the provider.
    package static let promptIfNecessary = "if_necessary"
}
