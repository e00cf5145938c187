import Foundation
import HTTPServer
import HTTPWire
import WebFormats

@testable import TenantControl
@testable import TenantServer

extension FuzzTarget {
    static let ofTenantServer = [FuzzTarget(name: "client-request", check: checkClientRequest)]
}

/// The input is a client's form. All that is noted of it is a GUID, a known name, or a short word without spaces.
@Sendable func checkClientRequest(_ input: [UInt8]) throws(Disagreement) {
    guard let head = try? RequestHead(method: .post, target: "/common/oauth2/v2.0/token") else {
        throw Disagreement(description: "The head is one")
    }
    let request = Request(head: head, body: input, peer: PeerAddress(ipv4: (127, 0, 0, 1), port: 1))
    let fields = try? FormFields(body: input)
    guard let step = ClientStep(request, fields) else {
        throw Disagreement(description: "A token request is a client's")
    }
    let noted = ClientRequest(
        request, fields, step: step, note: ClientNote.Content(), status: 200, time: .distantPast, milliseconds: 0,
        isRegistered: { _ in false })
    for id in [noted.clientID, noted.correlationID].compactMap(\.self) {
        try hold(UUID(uuidString: id) != nil && id == id.lowercased(), "An ID is a GUID in lower case")
    }
    let words = (noted.library?.split(separator: " ").map(String.init) ?? []) + noted.scopes
    for word in words {
        let isShort = word.utf8.count <= 100 && word.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        try hold(isShort, "A word is short and visible")
    }
    try hold(noted.scopes.count <= 16 && words.count - noted.scopes.count <= 2, "There are few words")
    let given = fields?.fields.map { $0.name.lowercased() } ?? []
    for name in noted.parameters {
        try hold(ClientRequest.knownParameters.contains(name) && given.contains(name), "A parameter is known and given")
    }
    try hold(!noted.isFromApp && noted.cost <= 8192, "The body does not show an app, and costs little")
}
