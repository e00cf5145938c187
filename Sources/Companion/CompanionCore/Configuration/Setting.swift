/// One key of the configuration, as declared in `Settings.swift` and shown by `--help` and ``SettingsDocument``.
package struct Setting: Sendable, Equatable {
    /// The form of a value.
    package enum Form: Sendable {
        /// One value.
        case text
        /// A file's path, relative to the configuration file's folder.
        case path
        /// A list. In the environment its items are separated by commas or spaces.
        case list
        /// One value that only the environment may contain, because configuration files are copied, committed and
        /// shown.
        case secret
    }

    /// The key in the file, such as `session.idle_minutes`. Each dot is a level of the mapping.
    package let key: String
    /// The form of the value.
    package let form: Form
    /// The type with its unit, or the choices, as text for people.
    package let values: String
    /// The words that the value is one of; empty if it is anything else.
    package let choices: [String]
    /// The default in the form of the file; nil if there is none, or if it depends on other settings.
    package let standard: String?
    /// The help text, in sentences.
    package let help: String

    /// The environment variable that overrides the file.
    package var environmentName: String { Setting.environmentName(of: key) }

    package static func environmentName(of key: String) -> String {
        "COMPANION_" + key.uppercased().map { $0 == "." || $0 == "-" ? "_" : String($0) }.joined()
    }
}
