extension FuzzTarget {
    static let ofHTTPWire = [
        FuzzTarget(name: "request-head", check: checkRequestHead),
        FuzzTarget(name: "body-framing", check: checkBodyFraming),
        FuzzTarget(name: "cookies", check: checkCookies),
        FuzzTarget(name: "ranges-and-conditions", check: checkRangesAndConditions),
    ]
}
