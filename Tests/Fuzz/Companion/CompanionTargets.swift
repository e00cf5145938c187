extension FuzzTarget {
    static let ofCompanion = [
        FuzzTarget(name: "return-path", check: checkReturnPath),
        FuzzTarget(name: "configuration", check: checkConfiguration),
        FuzzTarget(name: "page-text", check: checkPageText),
    ]
}
