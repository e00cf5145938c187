import TenantControl
import WebFormats

/// The control page's forms. Each sends one key of the JSON interface with a text as its value.
enum ControlForm {
    /// Returns the form's fields as members of the JSON interface; nil if the form cannot be parsed.
    static func members(_ body: [UInt8]) -> [String: JSONValue]? {
        guard let fields = try? FormFields(body: body), !fields.fields.isEmpty else { return nil }
        var members: [String: JSONValue] = [:]
        for field in fields.fields where !["times", "suberror", "code"].contains(field.name) {
            members[field.name] = value(field, fields)
        }
        if let key = fields["undo"].flatMap(ControlKey.named) { members = [key.name: key.normal] }
        return members
    }

    /// Whether the form returns a setting to normal for everyone, whatever the page's choice is.
    static func undoes(_ body: [UInt8]) -> Bool { (try? FormFields(body: body))?["undo"] != nil }

    /// Returns a rule with the effect among the members, in place of one that it ends; the members if there is none.
    static func rule(_ members: [String: JSONValue], _ rule: [String: JSONValue]) -> [String: JSONValue] {
        guard let (key, value) = members.first(where: { ControlKey.named($0.key)?.isEffect == true }) else {
            return members
        }
        let ended = members.filter { $0.key == "remove" }
        if value == .null, !ended.isEmpty { return ended }
        // The rule has the times.
        let effect = value.object.map { .object($0.filter { $0.key != "times" }) } ?? value
        return ended.merging(["rules": [.object(rule.merging([key: effect]) { $1 })]]) { $1 }
    }

    private static func value(_ field: FormFields.Field, _ fields: FormFields) -> JSONValue {
        if field.value.isEmpty { return .null }
        switch ControlKey.named(field.name)?.field {
        case .answer(let presets):
            guard let preset = presets.first(where: { $0.name == field.value }),
                case .object(var answer) = preset.answer
            else { return .string(field.value) }
            answer["times"] = fields["times"].flatMap { Int($0) }.map(JSONValue.integer)
            return .object(answer)
        case .nativeFailure:
            let words = field.value.split(separator: " ").map(String.init)
            return [
                "endpoint": JSONValue(words.first), "error": JSONValue(words.dropFirst().first),
                "suberror": JSONValue(fields.text("suberror")),
                "code": fields.text("code").map { code in Int(code).map(JSONValue.integer) ?? .string(code) } ?? .null,
            ]
        default:
            switch field.value {
            case "true": return true
            case "false": return false
            default: return Int(field.value).map(JSONValue.integer) ?? .string(field.value)
            }
        }
    }
}
