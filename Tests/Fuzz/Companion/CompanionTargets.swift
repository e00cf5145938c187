extension FuzzTarget {
    static let ofCompanion = [
        FuzzTarget(name: "accept-language", check: checkAcceptLanguage),
        FuzzTarget(name: "return-path", check: checkReturnPath),
        FuzzTarget(name: "configuration", check: checkConfiguration),
    ]
}
