import Foundation

/// The type of a setting: what a reader may write, how that becomes a value, and what is wrong with it if it does not.
struct SettingType<Value: Sendable>: Sendable {
    /// What may stand behind the key.
    let form: Setting.Form
    /// For people: the type with its unit, or the choices.
    let values: String
    /// A value as the file has it.
    let text: @Sendable (Value) -> String
    /// Reads what stands there: the items of a list, else one text. Adds what is wrong, and then returns nil or what is
    /// left of a list.
    let parse: @Sendable ([String], _ mistakes: inout [String]) -> Value?

    /// One value.
    ///
    /// - Parameters:
    ///   - values: for people, the type with its unit, or the choices.
    ///   - form: what may stand behind the key.
    ///   - text: a value as the file has it.
    ///   - parse: reads the text, or says what to write instead.
    static func one(
        _ values: String, form: Setting.Form = .text, text: @escaping @Sendable (Value) -> String = { "\($0)" },
        parse: @escaping @Sendable (String) throws(WrongValue) -> Value
    ) -> SettingType {
        SettingType(form: form, values: values, text: text) { texts, mistakes in
            do throws(WrongValue) {
                return try texts.first.map(parse)
            } catch {
                mistakes.append(error.reason)
                return nil
            }
        }
    }

    /// Any number of values.
    ///
    /// - Parameters:
    ///   - values: for people, what the items are.
    ///   - parse: reads one item. What it throws continues the sentence “has “item””.
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

/// Why a text is no value of a setting, for the operator.
struct WrongValue: Error {
    /// What is wrong and what to write instead.
    let reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ text: String, noneOf choices: String) { reason = "must be one of \(choices), not “\(text)”" }
}

extension SettingType where Value == String {
    /// Any text.
    static var text: SettingType { one("text") { $0 } }
    /// A file, read when it is needed.
    static var path: SettingType { one("file", form: .path) { $0 } }
    /// A text that only the environment may hold.
    static var secret: SettingType { one("text, in the environment only", form: .secret) { $0 } }

    /// One of these words.
    static func oneOf(_ words: [String]) -> SettingType {
        let choices = words.joined(separator: ", ")
        return one(choices) { text throws(WrongValue) in
            guard words.contains(text) else { throw WrongValue(text, noneOf: choices) }
            return text
        }
    }
}

extension SettingType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the type's cases.
    static var choice: SettingType {
        let choices = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return one(choices, text: { $0.rawValue }) { text throws(WrongValue) in
            guard let value = Value(rawValue: text) else { throw WrongValue(text, noneOf: choices) }
            return value
        }
    }
}

extension SettingType where Value == Bool {
    /// Yes or no.
    static var flag: SettingType {
        one("true, false") { text throws(WrongValue) in
            guard let value = Bool(text) else { throw WrongValue(text, noneOf: "true, false") }
            return value
        }
    }
}

extension SettingType where Value == Int {
    /// A whole number from a range.
    ///
    /// - Parameter unit: what one of them is, in the value's own unit.
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

    /// A number of which 0 turns the limit off.
    static var limit: SettingType { number("number; 0 turns it off") }
    /// Bytes, written in megabytes; 0 turns the limit off.
    static var megabytes: SettingType { number("megabytes; 0 turns it off", to: 1 << 20, unit: 1 << 20) }
}

extension SettingType where Value == Duration {
    static var seconds: SettingType { duration("seconds", 1) }
    static var minutes: SettingType { duration("minutes", 60) }
    static var hours: SettingType { duration("hours", 3600) }
    /// Seconds, of which there may be none.
    static var secondsOrNone: SettingType { duration("seconds", 1, mayBeNone: true) }

    /// At most a year, of so many seconds each.
    private static func duration(_ values: String, _ seconds: Double, mayBeNone: Bool = false) -> SettingType {
        one(values, text: { plain($0 / .seconds(seconds)) }) { text throws(WrongValue) in
            if mayBeNone, text == "0" { return .zero }
            guard let number = Double(text), number > 0, number * seconds <= 366 * 86_400 else {
                throw WrongValue("must be a number above 0, not “\(text)”")
            }
            return .seconds(number * seconds)
        }
    }

    /// A whole number has no fraction in the file.
    private static func plain(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension SettingType where Value == Date {
    /// A day, which begins at midnight UTC.
    static var day: SettingType {
        let style = Date.ISO8601FormatStyle.iso8601.year().month().day()
        return one("date, as 2027-01-31", text: { $0.formatted(style) }) { text throws(WrongValue) in
            guard let date = try? Date(text, strategy: style) else {
                throw WrongValue("must be a date, as 2027-01-31, not “\(text)”")
            }
            return date
        }
    }
}
