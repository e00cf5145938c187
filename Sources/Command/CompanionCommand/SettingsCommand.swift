import ArgumentParser
import CompanionCore

/// `companion settings` prints the declarations of all settings.
struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Print every setting: as a page, as an annotated file, or as a schema.",
        discussion: """
            Without a form it prints an annotated file. With --config, that file has the values of yours; redirect it into \
            a new file to see what has been added since yours was written.
            """)

    enum Form: String, EnumerableFlag { case yaml, markdown, schema }

    @Flag(help: "The form: an annotated file, the guide's tables, or a JSON Schema for editors.")
    var form = Form.yaml

    @Option(help: "The configuration file whose values the annotated file has.")
    var config: String?

    func run() throws {
        let document: SettingsDocument
        do {
            document = try SettingsDocument(file: config)
        } catch {
            throw CommandFailure("\(error)")
        }
        switch form {
        case .yaml: print(document.yaml, terminator: "")
        case .markdown: print(document.markdown, terminator: "")
        case .schema: print(document.schema, terminator: "")
        }
    }
}
