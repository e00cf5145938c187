// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
// The type of `#selector`, which the compiler looks up in this module.

import Foundation

public struct Selector {
    public init(_ name: String) {}
}

// Documentation: Foundation's networking as Apple's SDK imports it. Completion handlers are @Sendable, and older than concurrency.
public struct URLRequest: Sendable {
    public init(url: URL) {}; public mutating func setValue(_ v: String?, forHTTPHeaderField f: String) {};
    public var httpMethod: String?; public var httpBody: Data?
}
open class URLResponse: NSObject, @unchecked Sendable {}
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public var statusCode: Int { 0 }; public func value(forHTTPHeaderField f: String) -> String? { nil };
    public var allHeaderFields: [AnyHashable: Any] { [:] }
}
open class URLSessionDataTask: NSObject, @unchecked Sendable { public func resume() {} }
open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    public class var `default`: URLSessionConfiguration { URLSessionConfiguration() };
    public var timeoutIntervalForRequest: Double = 0
}
open class URLSession: NSObject, @unchecked Sendable {
    public class var shared: URLSession { URLSession(configuration: .default) }
    public init(configuration: URLSessionConfiguration) {}
    @preconcurrency public func dataTask(
        with r: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask { URLSessionDataTask() }
    public func data(for r: URLRequest) async throws -> (Data, URLResponse) { (Data(), URLResponse()) }
}
