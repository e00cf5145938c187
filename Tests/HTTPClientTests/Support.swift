import EventLoop
import Foundation
import HTTPTypes
import Testing

@testable import HTTPClient

/// A client on two workers, a raw server on a third; ended afterwards.
func withClient<Answer>(
    _ configuration: HTTPClient.Configuration = .init(), workers: Int = 1,
    answer: @escaping @Sendable (String) -> RawServer.Answer,
    _ body: (HTTPClient, RawServer) async throws -> Answer
) async throws -> Answer {
    let clients = try WorkerGroup(count: workers)
    let servers = try WorkerGroup(count: 1)
    let client = HTTPClient(workers: clients, configuration: configuration)
    let outcome: Result<Answer, any Error>
    do {
        outcome = .success(try await body(client, try await RawServer(on: servers.workers[0], answer: answer)))
    } catch {
        outcome = .failure(error)
    }
    await client.shutdown()
    await clients.shutdown()
    await servers.shutdown()
    return try outcome.get()
}

/// A GET, or another method, of a loopback port.
func request(
    _ port: Int, _ path: String = "/", method: HTTPRequest.Method = .get, host: String = "127.0.0.1",
    scheme: String = "http", fields: HTTPFields = [:]
) -> HTTPRequest {
    HTTPRequest(method: method, scheme: scheme, authority: "\(host):\(port)", path: path, headerFields: fields)
}

extension HTTPClient {
    /// The failure of a request that must fail.
    func failure(
        _ request: HTTPRequest, body: [UInt8] = [], timeout: Duration? = nil, maxResponseBytes: Int? = nil
    ) async -> HTTPClientError? {
        do throws(HTTPClientError) {
            _ = try await send(request, body: body, timeout: timeout, maxResponseBytes: maxResponseBytes)
            return nil
        } catch {
            return error
        }
    }
}

extension HTTPClientResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}

/// The bytes of the response to a request with this text as its body.
func ok(_ body: String, fields: String = "") -> RawServer.Answer {
    .text("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
}

extension String {
    /// Up to the first line end.
    var firstLine: String { String(prefix { $0 != "\r\n" }) }
}
