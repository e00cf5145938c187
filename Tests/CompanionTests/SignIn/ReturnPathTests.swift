import Testing

@testable import Companion
@testable import CompanionCore
@testable import CompanionSignIn

@Suite struct ReturnPathTests {
    @Test(arguments: ["/", "/ios", "/ios?tab=1", "/ios#log", "/a/b", "/ios?name=a%20b", "/ios?next=%2Fmacos"])
    func `a path of ours is taken as it is`(path: String) {
        #expect(ReturnPath(path, below: "")?.text == path)
    }

    @Test(arguments: [
        ("", "empty"), ("ios", "relative"), ("https://evil.example", "another scheme"),
        ("//evil.example", "another host"),
        ("/\\evil.example", "a backslash"), ("/%5Cevil.example", "an encoded backslash"),
        ("/%2Fevil.example", "an encoded slash that makes a host"), ("/%252Fevil.example", "a doubly encoded one"),
        ("/ios\r\nSet-Cookie: a=b", "a line break"), ("/ios%0d%0aSet-Cookie:%20a=b", "an encoded line break"),
        ("/\tios", "a tab"), ("/ios%00", "a NUL"), ("/../etc", "a step up"), ("/%2e%2e/etc", "an encoded step up"),
        ("/ios%zz", "a broken escape"), ("/ios%2", "a cut escape"), ("/ios\u{e9}", "not ASCII"),
        ("javascript:alert(1)", "a script"), ("/%25252525252Fevil", "too many layers"),
    ])
    func `anything that a browser could take elsewhere is refused`(path: String, why: String) {
        #expect(ReturnPath(path, below: "") == nil, "\(why)")
    }

    @Test(arguments: [
        "/auth/ios/sign-in", "/auth/ios/sign-in?prompt=none", "/auth", "/auth?x", "/auth#x", "/api/ios/me", "/api",
        "/%61uth/ios/sign-in", "/auth%2Fios%2Fsign-in", "/%2561uth/x", "/a%70i/apps", "/auth%3Fx", "/api%23",
        "/auth%252Fios%252Fsign-in",
    ])
    func `a path for scripts or providers is not a page to come back to`(path: String) {
        #expect(ReturnPath(path, below: "") == nil)
        #expect(ReturnPath("/companion" + path, below: "/companion") == nil)
        #expect(ReturnPath("/companion/" + path, below: "/companion") == nil, "a front makes one slash of two")
    }

    @Test(arguments: ["/authors", "/apiary", "/ios/auth/x", "/ios?next=/auth/x", "/Auth/x", "/ios#/api/x"])
    func `a path that only looks like one for scripts is a page`(path: String) {
        #expect(ReturnPath(path, below: "")?.text == path)
        #expect(ReturnPath("/companion" + path, below: "/companion")?.text == "/companion" + path)
    }

    @Test func `pages below a base path that is named like a reserved one are pages`() {
        #expect(ReturnPath("/auth/ios", below: "/auth")?.text == "/auth/ios")
        #expect(ReturnPath("/auth/auth/ios/sign-in", below: "/auth") == nil)
    }

    @Test func `a long path is refused`() {
        #expect(ReturnPath("/" + String(repeating: "a", count: 512), below: "") == nil)
    }

    @Test(arguments: ["/companion", "/companion/ios", "/companion?tab=1", "/companion#log", "/companion/a%20b"])
    func `below a path, a path of ours is taken as it is`(path: String) {
        #expect(ReturnPath(path, below: "/companion")?.text == path)
    }

    @Test(arguments: [
        ("/", "the host's own start"), ("/ios", "another application of the host"),
        ("/companions", "one whose name begins like ours"), ("/companion%2Fios", "an encoded slash"),
        ("/companion/../ios", "a step up"), ("/companion/%2e%2e/ios", "an encoded step up"),
        ("/%63ompanion/ios", "another spelling"), ("/Companion/ios", "another case"), ("companion", "relative"),
        ("//companion/ios", "another host"),
    ])
    func `below a path, other pages of the host are not ours`(path: String, why: String) {
        #expect(ReturnPath(path, below: "/companion") == nil, "\(why)")
    }
}
