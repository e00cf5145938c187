import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The files of a page have names that browsers keep: a second visit asks for the page alone.
@Suite struct AssetNameTests {
    @Test(arguments: ["/", "/ios", "/macos", "/portal", "/auth/signed-out", "/nowhere"])
    func `every file that a page, its modules or its styles name is kept for a year`(path: String) async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let page = try await visitor.send(.get, path, headers: [.accept: "text/html"])
            var waiting = Self.references(in: page.text, at: path)
            #expect(waiting.count > 2)
            var seen: Set<String> = []
            while let name = waiting.popLast() {
                guard seen.insert(name).inserted else { continue }
                let file = try await visitor.send(.get, name)
                #expect(file.status == 200, "\(name)")
                #expect(file.fields[.cacheControl] == "public, max-age=31536000, immutable", "\(name)")
                waiting += Self.references(in: file.text, at: name)
            }
        }
    }

    @Test func `a plain name still works, with revalidation`() async throws {
        try await Site.run { site in
            let visitor = Visitor(site)
            let file = try await visitor.send(.get, "/assets/styles/companion.css")
            #expect(file.status == 200)
            #expect(file.fields[.cacheControl] == "no-cache")
            let tag = try #require(file.fields[.eTag])
            let again = try await visitor.send(.get, "/assets/styles/companion.css", headers: [.ifNoneMatch: tag])
            #expect(again.status == 304)
        }
    }

    @Test func `a page that is made at its first request is sent compressed soon after`() async throws {
        try await Site.run(compressed: true) { site in
            let visitor = Visitor(site)
            // Each form has a tag of its own; this client decodes what it gets.
            func isCompressed(_ path: String) async throws -> Bool {
                let forms = try await ["identity", "gzip"].asyncMap { coding in
                    try await visitor.send(.get, path, headers: [.acceptEncoding: coding])
                }
                #expect(forms[0].body == forms[1].body)
                return forms[0].fields[.eTag] != forms[1].fields[.eTag]
            }
            func becomesCompressed(_ path: String) async -> Bool {
                await eventually { (try? await isCompressed(path)) ?? false }
            }
            #expect(await becomesCompressed("/assets/styles/companion.css"), "what is there from the start")
            #expect(await becomesCompressed("/ios"))
            #expect(await becomesCompressed("/macos"), "when the first had been done")
        }
    }

    /// Paths of assets in a page, module or style.
    private static func references(in text: String, at path: String) -> [String] {
        text.matches(of: /(?:(\/assets\/)|["'](?=\.))([a-z0-9.\/-]+\.(?:js|css|svg|json|txt))\b/).compactMap { found in
            URL(string: String((found.output.1 ?? "") + found.output.2), relativeTo: URL(fileURLWithPath: path))?.path
        }
    }
}
