extension FuzzTarget {
    static let ofWebFormats = [
        FuzzTarget(name: "json", check: checkJSON),
        FuzzTarget(name: "forms", check: checkForms),
        FuzzTarget(name: "base64url", check: checkBase64URL),
        FuzzTarget(name: "dates", check: checkDates),
    ]
}
