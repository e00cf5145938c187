import Foundation
import Testing

@testable import CompanionCore

/// The applications whose tokens go to an API of the list.
@Suite struct AllowedAPITests {
    private static let key = "apis.partner"

    private func read(_ apps: [String: String], _ api: [String: String]) -> (AllowedAPI?, mistakes: [String]) {
        let base = ["base": "https://graph.microsoft.com/v1.0", "paths": "/me/messages /users/*"]
        var environment = ["COMPANION_APPS": apps.keys.sorted().joined(separator: ","), "COMPANION_APIS": "partner"]
        for (id, page) in apps {
            environment[Setting.environmentName(of: "apps.\(id).client_id")] = "abc"
            environment[Setting.environmentName(of: "apps.\(id).page")] = page
        }
        for (name, value) in base.merging(api, uniquingKeysWith: { $1 }) {
            environment[Setting.environmentName(of: "\(Self.key).\(name)")] = value
        }
        do throws(ConfigurationMistakes) {
            return (try CompanionConfiguration.read(environment: environment, file: nil).apis.first, [])
        } catch {
            return (nil, error.all.map { "\($0.key) \($0.reason)" })
        }
    }

    @Test(
        arguments: [
            ("the only portal", ["bench": "portal", "ios": "ios"], [:], ["bench"]),
            ("a portal of several", ["a": "portal", "b": "portal"], ["applications": "b"], ["b"]),
            ("two portals", ["a": "portal", "b": "portal"], ["applications": "a, b"], ["a", "b"]),
            (
                "another origin with scopes for each path", ["bench": "portal"],
                [
                    "base": "https://partner.example",
                    "scopes": "/me/messages=api://partner/Read /users/*=api://partner/Read",
                ], ["bench"]
            ),
        ] as [(String, [String: String], [String: String], [String])])
    func `an API belongs to the portals that it names, or to the only one`(
        row: String, apps: [String: String], api: [String: String], applications: [String]
    ) {
        let (read, mistakes) = read(apps, api)
        #expect(mistakes == [], "\(row)")
        #expect(read?.applications == applications, "\(row)")
    }

    @Test(
        arguments: [
            ("no portal", ["ios": "ios"], [:], "applications needs an application with the page portal"),
            ("one of several", ["a": "portal", "b": "portal"], [:], "applications is missing: name those of a, b"),
            (
                "a name that is none", ["a": "portal"], ["applications": "x"],
                "applications has “x”, which is no application"
            ),
            (
                "a tutorial", ["a": "portal", "ios": "ios"], ["applications": "ios"],
                "applications has “ios”, which is no"
            ),
            (
                "another origin without scopes", ["a": "portal"], ["base": "https://partner.example"],
                "scopes lacks those of /me/messages: without them the token that “a” has for its own API would go to "
                    + "https://partner.example"
            ),
            (
                "another origin without scopes for a path", ["a": "portal"],
                ["base": "https://partner.example", "scopes": "/me/messages=api://partner/Read"],
                "scopes lacks those of /users/*"
            ),
            (
                "another port", ["a": "portal"], ["base": "https://graph.microsoft.com:444/v1.0"],
                "scopes lacks those of /me/messages"
            ),
        ] as [(String, [String: String], [String: String], String)])
    func `a token that would go to another API is refused at the start`(
        row: String, apps: [String: String], api: [String: String], mistake: String
    ) {
        let (_, mistakes) = read(apps, api)
        #expect(mistakes.count == 1 && mistakes[0].hasPrefix("\(Self.key).\(mistake)"), "\(row): \(mistakes)")
    }
}
