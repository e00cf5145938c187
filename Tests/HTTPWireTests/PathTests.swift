import Testing

@testable import HTTPWire

@Suite("Paths")
struct PathTests {
    @Test(
        "Path segments",
        arguments: [
            ("/", [""]), ("/a", ["a"]), ("/a/", ["a", ""]), ("/a/b", ["a", "b"]), ("//a", ["", "a"]),
            ("/a%20b/c+d", ["a b", "c+d"]), ("/%C3%A9", ["é"]), ("/100%25", ["100%"]),
            ("/.a/..b/...", [".a", "..b", "..."]),
            ("/%2541", ["%41"]),
        ])
    func segments(_ path: String, _ segments: [String]) throws {
        #expect(try decodedPathSegments(path) == segments)
    }

    @Test(
        "Paths refused",
        arguments: [
            ("", PathError.notAbsolute), ("*", .notAbsolute), ("a/b", .notAbsolute),
            ("/..", .dotSegment), ("/a/../b", .dotSegment), ("/a/..", .dotSegment), ("/.", .dotSegment),
            ("/%2e%2e/etc", .dotSegment), ("/.%2E/etc", .dotSegment), ("/%252e%252e/etc", .dotSegment),
            ("/%25252e%25252e", .dotSegment), ("/%2e", .dotSegment),
            ("/a%2fb", .forbiddenCharacter), ("/a%2Fb", .forbiddenCharacter), ("/a%252fb", .forbiddenCharacter),
            ("/a\\b", .forbiddenCharacter), ("/a%5cb", .forbiddenCharacter), ("/a%255Cb", .forbiddenCharacter),
            ("/%00", .forbiddenCharacter), ("/a%0d%0ab", .forbiddenCharacter), ("/%7f", .forbiddenCharacter),
            ("/%2500", .forbiddenCharacter), ("/..%2f", .forbiddenCharacter),
            ("/%", .invalidEncoding), ("/%4", .invalidEncoding), ("/%zz", .invalidEncoding), ("/%ff", .invalidEncoding),
            ("/%c0%ae%c0%ae", .invalidEncoding), ("/%2525252525252e", .invalidEncoding),
        ])
    func refusedPaths(_ path: String, _ error: PathError) {
        #expect(throws: error) { try decodedPathSegments(path) }
    }
}
