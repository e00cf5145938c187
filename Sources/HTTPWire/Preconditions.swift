import HTTPTypes
public import WebFormats

/// What distinguishes one state of a resource from another (RFC 9110 §8.8).
public struct Validators: Sendable, Hashable {
    /// The entity tag, if there is one.
    public var entityTag: EntityTag?
    /// When the resource changed last, if it is known.
    public var lastModified: HTTPDate?

    /// The validators of an existing resource.
    public init(entityTag: EntityTag? = nil, lastModified: HTTPDate? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }
}

/// What a request's conditions come to.
public enum PreconditionOutcome: Sendable, Hashable {
    /// Do what the method says.
    case proceed
    /// Answer 304 (Not Modified) with the validators and no body.
    case notModified
    /// Answer 412 (Precondition Failed).
    case preconditionFailed
}

extension RequestHead {
    /// Evaluates the request's conditions against an existing resource, in the order of RFC 9110 §13.2.2: If-Match,
    /// else If-Unmodified-Since; then If-None-Match, else (GET and HEAD) If-Modified-Since. A date that is not one
    /// counts as not sent; a tag list that is not one matches nothing.
    ///
    /// - Parameters:
    ///   - validators: those of the resource as it is.
    ///   - now: the present time, for dates with two-digit years and from the future.
    public func evaluatePreconditions(_ validators: Validators, now: HTTPDate) -> PreconditionOutcome {
        let isRead = method == .get || method == .head
        if let wanted = self[.ifMatch] {
            guard Self.matches(wanted, validators.entityTag, { $0.stronglyMatches($1) }) else {
                return .preconditionFailed
            }
        } else if let date = date(.ifUnmodifiedSince, now: now), let lastModified = validators.lastModified,
            lastModified > date
        {
            return .preconditionFailed
        }
        if let known = self[.ifNoneMatch] {
            guard Self.matches(known, validators.entityTag, { $0.weaklyMatches($1) }) else { return .proceed }
            return isRead ? .notModified : .preconditionFailed
        }
        if isRead, let date = date(.ifModifiedSince, now: now), let lastModified = validators.lastModified,
            lastModified <= date
        {
            return .notModified
        }
        return .proceed
    }

    func date(_ name: HTTPField.Name, now: HTTPDate) -> HTTPDate? {
        self[name].flatMap { HTTPDate(parsing: $0, now: now) }
    }

    private static func matches(
        _ list: String, _ tag: EntityTag?, _ compare: (EntityTag, EntityTag) -> Bool
    ) -> Bool {
        switch EntityTagList(list) {
        case .any: true
        case .tags(let tags): tag.map { tag in tags.contains { compare(tag, $0) } } ?? false
        case nil: false
        }
    }
}
