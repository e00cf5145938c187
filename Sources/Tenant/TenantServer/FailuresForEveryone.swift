import TenantControl
import TenantSignIn
package import WebFormats

extension DemoTenant {
    /// Returns the failures that are set for everyone, the newest first: the name that the page of failures has for each in a
    /// language, and its place there.
    package func failuresForEveryone(in tag: String) -> [JSONValue] {
        let language = layout.languages.all.first { $0.tag == tag }
        let rules = platform.controls.rules.filter { $0.when.isForEveryone }.sorted { $0.id > $1.id }
        return rules.flatMap { rule in
            ControlKey.effects.filter { $0.json(rule.effects) != nil }.map { key -> JSONValue in
                let name = key.title.map { language?.text($0.text) ?? $0.text } ?? key.name
                return ["name": .string(name), "place": .string(rule.key == nil ? "now" : key.name)]
            }
        }
    }
}
