/// One key of the configuration, as its row in `Settings.swift` declares it: what `--help`, the README and the example file
/// show.
package struct Setting: Sendable, Equatable {
    /// What may stand behind the key.
    package enum Form: Sendable {
        /// One value.
        case text
        /// A file's path, relative to the configuration file's folder.
        case path
        /// A list; in the environment separated by commas or spaces.
        case list
        /// One value that only the environment may hold: a configuration file is copied, committed and shown.
        case secret
    }

    /// The key in the file, as `session.idle_minutes`: each dot is a level of the mapping.
    package let key: String
    /// What may stand behind the key.
    package let form: Form
    /// The type with its unit or its choices, for people.
    package let values: String
    /// The default as the file would have it; nil where there is none, or where it follows from other settings.
    package let standard: String?
    /// What the setting decides, in sentences.
    package let help: String

    /// The environment variable that wins over the file.
    package var environmentName: String { Setting.environmentName(of: key) }

    static func environmentName(of key: String) -> String {
        "COMPANION_" + key.uppercased().map { $0 == "." || $0 == "-" ? "_" : String($0) }.joined()
    }
}
