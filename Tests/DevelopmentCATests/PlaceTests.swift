import Foundation
import Testing

@testable import DevelopmentCA

@Suite struct PlaceTests {
    @Test(
        arguments: [
            ("/set", ["XDG_DATA_HOME": "/data", "HOME": "/usr"], "/set"),
            (nil, ["XDG_DATA_HOME": "/data", "HOME": "/usr"], "/data/companion/development-ca"),
            (nil, ["XDG_DATA_HOME": "data", "HOME": "/usr"], "/usr/.local/share/companion/development-ca"),
            (nil, ["XDG_DATA_HOME": "", "HOME": "/usr"], "/usr/.local/share/companion/development-ca"),
            (nil, ["HOME": "/usr"], "/usr/.local/share/companion/development-ca"),
            (nil, ["HOME": "/"], "/.local/share/companion/development-ca"),
            (nil, ["HOME": "/nonexistent"], "/var/lib/companion/development-ca"),
            (nil, ["HOME": "/etc/passwd"], "/var/lib/companion/development-ca"),
            (nil, ["HOME": ""], "/var/lib/companion/development-ca"),
            (nil, [:], "/var/lib/companion/development-ca"),
        ] as [(String?, [String: String], String)])
    func `the folder is the configured one, the user's, or beside the database`(
        configured: String?, environment: [String: String], folder: String
    ) {
        #expect(
            DevelopmentCA.folder(
                configured: configured, environment: environment, besides: "/var/lib/companion/companion.sqlite")
                == folder)
    }
}
