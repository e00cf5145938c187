import HTTPTypes
public import WebFormats

/// The validators that distinguish one state of a resource from another (RFC 9110 §8.8).
public struct Validators: Sendable, Hashable {
    /// The entity tag, if there is one.
    public var entityTag: EntityTag?
    /// The time of the resource's last change, if it is known.
    public var lastModified: HTTPDate?

    /// Creates the validators of an existing resource.
    public init(entityTag: EntityTag? = nil, lastModified: HTTPDate? = nil) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }
}

/// The result of a request's conditions.
public enum PreconditionOutcome: Sendable, Hashable {
    /// Do what the method requests.
    case proceed
    /// Respond with 304 (Not Modified), the validators and no body.
    case notModified
    /// Respond with 412 (Precondition Failed).
    case preconditionFailed
}

extension RequestHead {
    /// Evaluates the request's conditions against an existing resource, in the order of RFC 9110 §13.2.2: If-Match,
    /// otherwise If-Unmodified-Since; then If-None-Match, otherwise (GET and HEAD) If-Modified-Since. An invalid date
    /// is ignored; an invalid list of tags matches nothing.
    ///
    /// - Parameters:
    ///   - validators: the resource's current validators.
    ///   - now: the current time, for dates with two-digit years and dates in the future.
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
