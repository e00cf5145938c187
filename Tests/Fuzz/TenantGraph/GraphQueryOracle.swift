import WebFormats

@testable import TenantGraph

extension FuzzTarget {
    static let ofTenantGraph = [FuzzTarget(name: "graph-query", check: checkGraphQuery)]
}

/// The input is a query of Graph. Its options are the same without the position of a page and with an unknown one, and a
/// filter is met exactly when its negation is not.
@Sendable func checkGraphQuery(_ input: [UInt8]) throws(Disagreement) {
    let text = String(decoding: input, as: UTF8.self)
    if let query = try? GraphQuery(text), let again = try? GraphQuery(query.text + "&x=y") {
        try agree(again.select, query.select, "The rest of the query selects the same")
        try agree(again.filter, query.filter, "The rest of the query filters the same")
        try agree(again.orderBy, query.orderBy, "The rest of the query sorts the same")
        try agree(again.top, query.top, "The rest of the query has the same page size")
    }
    try checkFilter(text)
    if let filter = try? FormFields(query: text)["$filter"] { try checkFilter(filter) }
}

private func checkFilter(_ text: String) throws(Disagreement) {
    guard let filter = try? GraphFilter(parsing: text), let negated = try? GraphFilter(parsing: "not(\(text))") else {
        return
    }
    try agree(negated.properties, filter.properties, "A negation reads the same properties")
    let entity = GraphEntity(
        type: .user, members: ["displayName": "Adele", "accountEnabled": true, "businessPhones": ["1"]])
    let (isMet, isNegated) = (try? filter.matches(entity), try? negated.matches(entity))
    try agree(isNegated, isMet.map(!), "A filter is met when its negation is not")
}
