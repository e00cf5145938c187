import Foundation
import HTTPTypes
import HTTPWire
import WebFormats

/// The response to a request for an asset.
enum AssetAnswer {
    case whole
    case part(Range<Int>)
    case notModified
    /// A response of the server itself, with its text and further fields.
    case refused(HTTPResponse.Status, detail: String, HTTPFields)

    init(_ asset: Asset, to head: RequestHead) {
        guard head.method == .get || head.method == .head else {
            self = .refused(.methodNotAllowed, detail: "This resource can only be read.", [.allow: "GET, HEAD"])
            return
        }
        guard Self.conditions.contains(where: head.contains) else {
            self = .whole
            return
        }
        let now = HTTPDate(secondsSince1970: Int64(time(nil)))
        switch head.evaluatePreconditions(asset.validators, now: now) {
        case .notModified: self = .notModified
        case .preconditionFailed:
            self = .refused(.preconditionFailed, detail: "The resource is not in the state that was asked for.", [:])
        case .proceed:
            switch head.byteRange(length: asset.body.count, validators: asset.validators, now: now) {
            case .whole: self = .whole
            case .part(let range): self = .part(range)
            case .unsatisfiable:
                self = .refused(
                    .rangeNotSatisfiable, detail: "The range begins behind the end of the resource.",
                    [.contentRange: "bytes */\(asset.body.count)"])
            }
        }
    }

    private static let conditions: [HTTPField.Name] = [
        .ifNoneMatch, .ifModifiedSince, .range, .ifMatch, .ifUnmodifiedSince,
    ]

    var status: HTTPResponse.Status {
        switch self {
        case .whole: .ok
        case .part: .partialContent
        case .notModified: .notModified
        case .refused(let status, _, _): status
        }
    }

    /// The bytes of the asset that follow the head.
    func body(of asset: Asset) -> ArraySlice<UInt8> {
        switch self {
        case .whole: asset.body[...]
        case .part(let range): asset.body[range]
        case .notModified, .refused: []
        }
    }
}

/// The beginnings of heads that an asset's own lines follow: the status line and the server's common fields.
struct AssetHeads: Sendable {
    let ok: [UInt8]
    let partialContent: [UInt8]
    let notModified: [UInt8]

    init(commonFields: HTTPFields) {
        var fields = commonFields
        for name in Asset.fieldNames { fields[name] = nil }
        let writer = ResponseWriter(commonFields: fields)
        ok = writer.headWithoutDate(status: .ok, headerFields: [:], contentLength: nil)
        partialContent = writer.headWithoutDate(status: .partialContent, headerFields: [:], contentLength: nil)
        notModified = writer.headWithoutDate(status: .notModified, headerFields: [:], contentLength: nil)
    }
}
