import Foundation
import TenantControl
package import TenantDirectory
import WebFormats

/// The profile photos, read once: `tenant/photos/{portrait}-{side}.jpg` of the public folder.
package struct Photos: Sendable {
    private var pictures: [Photo: [UInt8]] = [:]

    /// Reads the files.
    package init(publicFolder: String) throws(DemoTenantError) {
        for portrait in Portrait.allCases {
            for side in Photo.sides {
                let path = "\(publicFolder)/tenant/photos/\(portrait)-\(side).jpg"
                guard let data = FileManager.default.contents(atPath: path) else {
                    throw .texts("\(path) cannot be read")
                }
                pictures[Photo(portrait: portrait, side: side)] = Array(data)
            }
        }
    }

    /// Returns the bytes of a photo.
    subscript(photo: Photo) -> [UInt8]? { pictures[photo] }
}

/// A profile photo in one of its sizes.
struct Photo: Sendable, Hashable {
    /// The side in pixels of the largest: about as large as on a kiosk.
    static let largest = 240
    /// The sides in pixels that Graph has of a picture of this size, the largest last.
    static let sides = [48, 64, 96, 120, largest]

    let portrait: Portrait
    let side: Int

    /// The name of the size.
    var id: String { "\(side)x\(side)" }
}

extension GraphCall {
    /// `GET /me/photo`: the largest.
    func photo(of account: DemoAccount) throws(GraphError) -> GraphAnswer {
        try described(account, Photo.largest, at: "photo")
    }

    /// `GET /me/photos/{size}`
    func sizedPhoto(of account: DemoAccount) throws(GraphError) -> GraphAnswer {
        try described(account, try side(), at: "photos('\(keys.last ?? "")')")
    }

    /// `GET /me/photos`
    func photos(of account: DemoAccount) throws(GraphError) -> GraphAnswer {
        guard let portrait = account.portrait else { throw .noPhoto }
        let photos = Photo.sides.map { JSONValue.object(Photo(portrait: portrait, side: $0).members) }
        let place: JSONValue = .string(context(account) + "/photos")
        return .response(.json(.ok, ["@odata.context": place, "value": .array(photos)]))
    }

    /// `GET /me/photo/$value`
    func picture(of account: DemoAccount) throws(GraphError) -> GraphAnswer {
        try content(account, Photo.largest)
    }

    /// `GET /me/photos/{size}/$value`
    func sizedPicture(of account: DemoAccount) throws(GraphError) -> GraphAnswer {
        try content(account, try side())
    }

    private func described(
        _ account: DemoAccount, _ side: Int, at place: String
    ) throws(GraphError) -> GraphAnswer {
        guard let portrait = account.portrait else { throw .noPhoto }
        var members = Photo(portrait: portrait, side: side).members
        members["@odata.context"] = .string("\(context(account))/\(place)/$entity")
        members["@odata.mediaContentType"] = "image/jpeg"
        members["@odata.mediaEtag"] = .string("\"\(account.graphID(in: tenantID))-\(side)\"")
        return .response(.json(.ok, .object(members)))
    }

    private func content(_ account: DemoAccount, _ side: Int) throws(GraphError) -> GraphAnswer {
        guard let portrait = account.portrait, let picture = graph.photos[Photo(portrait: portrait, side: side)]
        else { throw .noPhoto }
        return .response(.noStore(.ok, "image/jpeg", picture))
    }

    /// Returns the side that the path names.
    private func side() throws(GraphError) -> Int {
        let name = keys.last?.lowercased() ?? ""
        guard let side = Photo.sides.first(where: { name == "\($0)x\($0)" }) else { throw .noPhoto }
        return side
    }

    private func context(_ account: DemoAccount) -> String {
        "\(graph.addresses.baseURL)/v1.0/$metadata#users('\(account.graphID(in: tenantID))')"
    }
}

extension Photo {
    fileprivate var members: [String: JSONValue] {
        ["id": .string(id), "height": .integer(side), "width": .integer(side)]
    }
}

extension GraphError {
    fileprivate static let noPhoto = GraphError(
        status: .notFound, code: "ImageNotFound", message: "The photo of this user was not found.")
}
