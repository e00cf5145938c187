import Foundation

/// The type of a setting: its permitted texts, their conversion to a value, and the error messages.
struct SettingType<Value: Sendable>: Sendable {
    /// The form of the value.
    let form: Setting.Form
    /// The type with its unit, or the choices, as text for people.
    let values: String
    /// The words that the value is one of; empty if it is anything else.
    var choices: [String] = []
    /// Returns the text of a value as it appears in the file.
    let text: @Sendable (Value) -> String
    /// Parses the items of a list, or a single text. Adds any mistakes, and then returns nil or the valid rest of a
    /// list.
    let parse: @Sendable ([String], _ mistakes: inout [String]) -> Value?

    /// Returns a type with one value.
    ///
    /// - Parameters:
    ///   - values: the type with its unit, or the choices, as text for people.
    ///   - form: the form of the value.
    ///   - choices: the words that the value is one of, if it is.
    ///   - text: returns the text of a value as it appears in the file.
    ///   - parse: parses the text, or throws what to write instead.
    static func one(
        _ values: String, form: Setting.Form = .text, choices: [String] = [],
        text: @escaping @Sendable (Value) -> String = { "\($0)" },
        parse: @escaping @Sendable (String) throws(WrongValue) -> Value
    ) -> SettingType {
        SettingType(form: form, values: values, choices: choices, text: text) { texts, mistakes in
            do throws(WrongValue) {
                return try texts.first.map(parse)
            } catch {
                mistakes.append(error.reason)
                return nil
            }
        }
    }

    /// Returns a type whose value is one of some words.
    ///
    /// - Parameters:
    ///   - words: the words.
    ///   - text: returns the word of a value.
    ///   - value: returns the value of a word; nil if it is none of them.
    static func one(
        of words: [String], text: @escaping @Sendable (Value) -> String = { "\($0)" },
        value: @escaping @Sendable (String) -> Value?
    ) -> SettingType {
        let choices = words.joined(separator: ", ")
        return one(choices, choices: words, text: text) { text throws(WrongValue) in
            guard let value = value(text) else { throw WrongValue(text, noneOf: choices) }
            return value
        }
    }

    /// Returns a type with any number of values.
    ///
    /// - Parameters:
    ///   - values: the kind of the items, as text for people.
    ///   - parse: parses one item. The error continues the sentence “has “item””.
    static func list<Item: Sendable>(
        _ values: String, parse: @escaping @Sendable (String) throws(WrongValue) -> Item
    ) -> SettingType where Value == [Item] {
        SettingType(form: .list, values: values, text: { "[\($0.map { "\($0)" }.joined(separator: ", "))]" }) {
            texts, mistakes in
            var items: [Item] = []
            for text in texts {
                do throws(WrongValue) {
                    items.append(try parse(text))
                } catch {
                    mistakes.append("has “\(text)”" + error.reason)
                }
            }
            return items
        }
    }
}

/// The reason why a text is not valid for a setting, for the operator.
struct WrongValue: Error {
    /// The mistake, and what to write instead.
    let reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ text: String, noneOf choices: String) { reason = "must be one of \(choices), not “\(text)”" }
}

extension SettingType where Value == String {
    /// Any text.
    static var text: SettingType { one("text") { $0 } }
    /// A file that is read when it is needed.
    static var path: SettingType { one("file", form: .path) { $0 } }
    /// A text that only the environment may contain.
    static var secret: SettingType { one("text, in the environment only", form: .secret) { $0 } }

    /// One of the given words.
    static func oneOf(_ words: [String]) -> SettingType { one(of: words) { words.contains($0) ? $0 : nil } }
}

extension SettingType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the type's cases.
    static var choice: SettingType {
        one(of: Value.allCases.map(\.rawValue), text: { $0.rawValue }, value: { Value(rawValue: $0) })
    }
}

extension SettingType where Value == Bool {
    /// Yes or no.
    static var flag: SettingType { one(of: ["true", "false"]) { Bool($0) } }
}

extension SettingType where Value == Int {
    /// A whole number within a range.
    ///
    /// - Parameter unit: the factor that converts the number into the value's unit.
    static func number(
        _ values: String, from least: Int = 0, to most: Int = 1_000_000, unit: Int = 1
    ) -> SettingType {
        one(values, text: { String($0 / unit) }) { text throws(WrongValue) in
            guard let number = Int(text), (least...most).contains(number) else {
                let off = least == 0 ? "; 0 turns the limit off" : ""
                throw WrongValue("must be a whole number from \(least) to \(most), not “\(text)”\(off)")
            }
            return number * unit
        }
    }

    /// A number; 0 turns the limit off.
    static var limit: SettingType { number("number; 0 turns it off") }
    /// Bytes, written as megabytes; 0 turns the limit off.
    static var megabytes: SettingType { number("megabytes; 0 turns it off", to: 1 << 20, unit: 1 << 20) }
}

extension SettingType where Value == Duration {
    static var seconds: SettingType { duration("seconds", 1) }
    static var minutes: SettingType { duration("minutes", 60) }
    static var hours: SettingType { duration("hours", 3600) }
    /// A number of seconds, which may be 0.
    static var secondsOrNone: SettingType { duration("seconds", 1, mayBeNone: true) }

    /// Returns a type for durations of at most a year. `seconds` is the length of the unit.
    private static func duration(_ values: String, _ seconds: Double, mayBeNone: Bool = false) -> SettingType {
        one(values, text: { plain($0 / .seconds(seconds)) }) { text throws(WrongValue) in
            if mayBeNone, text == "0" { return .zero }
            guard let number = Double(text), number > 0, number * seconds <= 366 * 86_400 else {
                throw WrongValue("must be a number of \(values) above 0, and at most a year, not “\(text)”")
            }
            return .seconds(number * seconds)
        }
    }

    /// Formats a number as it appears in the file: a whole number has no fraction.
    private static func plain(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension SettingType where Value == Date {
    /// A day, which begins at midnight UTC.
    static var day: SettingType {
        let style = Date.ISO8601FormatStyle.iso8601.year().month().day()
        return one("date, such as 2027-01-31", text: { $0.formatted(style) }) { text throws(WrongValue) in
            // The parser takes 30 February for 2 March.
            guard let date = try? Date(text, strategy: style), date.formatted(style) == text else {
                throw WrongValue("must be a date such as 2027-01-31, not “\(text)”")
            }
            return date
        }
    }
}
