import HTTPServer
import Testing

/// Which pattern a path leads to, and what its placeholders stand for.
struct RouteTableTests {
    private static let table = RouteTable([
        "/": "home", "/a": "a", "/a/b": "a b", "/a/{x}": "a x", "/a/{x}/c": "a x c", "/a/b/c": "a b c",
        "/a/b/{y}/e": "a b y e", "/a/{x}/{y}": "a x y", "/files/{path...}": "files", "/files/own/{name}": "own",
    ])

    @Test(
        arguments: [
            ("/", "home", [:]), ("/a", "a", [:]), ("/a/b", "a b", [:]), ("/a/d", "a x", ["x": "d"]),
            ("/a/d/c", "a x c", ["x": "d"]), ("/a/b/c", "a b c", [:]),
            ("/a/b/d", "a x y", ["x": "b", "y": "d"]), ("/a/b/d/e", "a b y e", ["y": "d"]),
            ("/a/{x}", "a x", ["x": "{x}"]), ("/a/{}", "a x", ["x": "{}"]), ("/a/%62", "a x", ["x": "%62"]),
            ("/files", "files", ["path": ""]), ("/files/", "files", ["path": ""]),
            ("/files/x/y", "files", ["path": "x/y"]), ("/files//x/", "files", ["path": "/x/"]),
            ("/files/own/x", "own", ["name": "x"]), ("/files/own/", "files", ["path": "own/"]),
            ("/files/own/x/y", "files", ["path": "own/x/y"]),
        ] as [(String, String, [String: String])])
    func `a path leads to the pattern that spells out most of it`(
        path: String, route: String, parameters: [String: String]
    ) throws {
        let match = try #require(Self.table.match(path))
        #expect(match.route == route)
        #expect(match.parameters == parameters)
    }

    @Test(arguments: ["", "a", "/A", "/b", "/a/", "/a//c", "/a/b/c/d", "/a/b//e", "//a", "/file"])
    func `another path leads nowhere`(path: String) {
        #expect(Self.table.match(path) == nil)
    }

    @Test func `the last route of a pattern counts, and a table without routes has none`() {
        var table = RouteTable<Int>()
        #expect(table.match("/") == nil)
        for number in 1...2 { for pattern in ["/a", "/a/{x}", "/b/{x...}"] { table.add(pattern, number) } }
        #expect(["/a", "/a/b", "/b"].map { table.match($0)?.route } == [2, 2, 2])
    }
}
