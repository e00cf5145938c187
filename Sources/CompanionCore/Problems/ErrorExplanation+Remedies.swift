package import OpenIDConnect

extension ErrorExplanation {
    /// All explanations by number, such as `AADSTS50011`, with the remedies that name this product's pages, settings
    /// and commands.
    package static let byNumber = all.reduce(into: [String: ErrorExplanation]()) { explanations, general in
        var explanation = general
        explanation.remedy = remedies[general.number] ?? general.remedy
        explanations[general.number] = explanation
    }

    private static let remedies = [
        "AADSTS54005": "Start the sign-in again from the page.",
        "AADSTS50011": "Register it exactly as companion check prints it.",
        "AADSTS500112": "Keep public_url the same on all machines, and register exactly what companion check prints.",
        "AADSTS7000218":
            "Configure client_secret_file, or register the redirect URI under mobile and desktop applications.",
        "AADSTS7000222": "Create a new one in the app registration and put it into the secret's file.",
    ]
}
