extension FuzzTarget {
    static let ofHTTPWire = [
        FuzzTarget(name: "request-head", check: checkRequestHead),
        FuzzTarget(name: "body-framing", check: checkBodyFraming),
        FuzzTarget(name: "response-head", check: checkResponseHead),
        FuzzTarget(name: "response-body", check: checkResponseBody),
        FuzzTarget(name: "cookies", check: checkCookies),
        FuzzTarget(name: "accept-encoding", check: checkAcceptEncoding),
        FuzzTarget(name: "ranges-and-conditions", check: checkRangesAndConditions),
    ]
}
