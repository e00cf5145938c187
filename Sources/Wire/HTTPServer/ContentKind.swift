import HTTPTypes
import HTTPWire

/// The kinds of content, by what a browser makes of it, which decide about the fields of a response.
enum ContentKind: CaseIterable {
    /// Everything that a browser may show as a page, and what says no type.
    case document
    /// An SVG picture, which can contain scripts.
    case picture
    /// Styles, scripts, other pictures, fonts, JSON and plain text: with `nosniff` none of it can run or load anything.
    case resource

    /// - Parameter type: The value of `Content-Type`; nil for none.
    init(type: String?) {
        // By bytes: every answer that is made for its request passes here.
        let name = type.map { Substring($0.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }) }
        switch name {
        case "image/svg+xml": self = .picture
        case "text/css", "text/javascript", "text/plain", "application/json", "image/png", "image/jpeg", "image/webp",
            "font/woff2":
            self = .resource
        default: self = .document
        }
    }
}

/// The writers and the heads of assets, by the kind of content.
struct ContentFields: Sendable {
    let writers: ByKind<ResponseWriter>
    let assetHeads: ByKind<AssetHeads>
    /// Whether all kinds have the same fields.
    let areSame: Bool

    /// One value for each kind.
    struct ByKind<Value: Sendable>: Sendable {
        let document: Value
        let picture: Value
        let resource: Value

        init(_ make: (ContentKind) -> Value) {
            (document, picture, resource) = (make(.document), make(.picture), make(.resource))
        }

        subscript(kind: ContentKind) -> Value {
            switch kind {
            case .document: document
            case .picture: picture
            case .resource: resource
            }
        }
    }

    init(_ configuration: ServerConfiguration) {
        func fields(_ kind: ContentKind) -> HTTPFields {
            var fields = configuration.responseFields
            switch kind {
            case .document: fields.append(contentsOf: configuration.documentFields)
            case .picture:
                if let policy = configuration.documentFields[.contentSecurityPolicy] {
                    fields[.contentSecurityPolicy] = policy
                }
            case .resource: break
            }
            return fields
        }
        areSame = configuration.documentFields.isEmpty
        writers = ByKind { ResponseWriter(commonFields: fields($0)) }
        assetHeads = ByKind { AssetHeads(commonFields: fields($0)) }
    }

    /// Returns the writer for a response with these fields.
    func writer(for fields: HTTPFields) -> ResponseWriter {
        areSame ? writers.document : writers[ContentKind(type: fields.first { $0.name == .contentType }?.value)]
    }
}
