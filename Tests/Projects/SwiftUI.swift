// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
// Documentation: the generated Swift uses this of SwiftUI and Combine. Declared as Apple has it, with its isolation, https://developer.apple.com/documentation/swiftui

@_exported import Foundation
@_exported import UIKit

// Combine
public protocol ObservableObject: AnyObject {}
@propertyWrapper public struct Published<Value> {
    public var wrappedValue: Value
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

// Data
@MainActor @propertyWrapper public struct StateObject<Object: ObservableObject> {
    public let wrappedValue: Object
    public init(wrappedValue: @autoclosure () -> Object) { self.wrappedValue = wrappedValue() }
}
@dynamicMemberLookup public struct Binding<Value> {
    public subscript<Subject>(dynamicMember path: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
        Binding<Subject>()
    }
}
@MainActor @propertyWrapper public struct ObservedObject<Object: ObservableObject> {
    @MainActor @dynamicMemberLookup public struct Wrapper {
        public subscript<Subject>(dynamicMember path: ReferenceWritableKeyPath<Object, Subject>) -> Binding<Subject> {
            Binding<Subject>()
        }
    }
    public var wrappedValue: Object
    public var projectedValue: Wrapper { Wrapper() }
    public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
}
public enum ScenePhase { case background, inactive, active }
public struct EnvironmentValues {
    public var scenePhase: ScenePhase { .active }
}
@propertyWrapper public struct Environment<Value> {
    private let path: KeyPath<EnvironmentValues, Value>
    public init(_ path: KeyPath<EnvironmentValues, Value>) { self.path = path }
    public var wrappedValue: Value { EnvironmentValues()[keyPath: path] }
}

// Views
@MainActor public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}
extension Never: View {
    public var body: Never { fatalError() }
}
public protocol Leaf: View where Body == Never {}
extension Leaf {
    public var body: Never { fatalError() }
}
public struct Group: Leaf {}
@MainActor @resultBuilder public enum ViewBuilder {
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> Group { Group() }
    public static func buildEither(first content: some View) -> Group { Group() }
    public static func buildEither(second content: some View) -> Group { Group() }
}
public struct Text: Leaf {
    public init(_ content: some StringProtocol) {}
}
public struct Button: Leaf {
    public init(_ title: String, action: @escaping @MainActor () -> Void) {}
}
public struct TextField: Leaf {
    public init(_ title: some StringProtocol, text: Binding<String>) {}
}
public struct SecureField: Leaf {
    public init(_ title: some StringProtocol, text: Binding<String>) {}
}
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: Leaf {
    public init(
        _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {}
}
public struct VStack<Content: View>: Leaf {
    public init(spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
}
public struct ScrollView<Content: View>: Leaf {
    public init(@ViewBuilder content: () -> Content) {}
}
public struct Alignment: Sendable {
    public static let leading = Alignment()
    public static let trailing = Alignment()
}
public struct Color: Sendable {
    public static let secondary = Color()
}
public protocol TextSelectability {}
public struct EnabledTextSelectability: TextSelectability {}
extension TextSelectability where Self == EnabledTextSelectability {
    public static var enabled: EnabledTextSelectability { EnabledTextSelectability() }
}
@MainActor public protocol TextFieldStyle {}
public struct RoundedBorderTextFieldStyle: TextFieldStyle {}
extension TextFieldStyle where Self == RoundedBorderTextFieldStyle {
    public static var roundedBorder: RoundedBorderTextFieldStyle { RoundedBorderTextFieldStyle() }
}
public struct TextInputAutocapitalization: Sendable {
    public static var never: TextInputAutocapitalization { TextInputAutocapitalization() }
}
extension View {
    public func textFieldStyle(_ style: some TextFieldStyle) -> some View { self }
    public func textInputAutocapitalization(_ autocapitalization: TextInputAutocapitalization?) -> some View { self }
    public func autocorrectionDisabled(_ disable: Bool = true) -> some View { self }
    public func foregroundColor(_ color: Color?) -> some View { self }
    public func frame(maxWidth: CGFloat?, alignment: Alignment) -> some View { self }
    public func disabled(_ disabled: Bool) -> some View { self }
    public func textSelection(_ selectability: some TextSelectability) -> some View { self }
    public func padding(_ length: CGFloat) -> some View { self }
    public func onChange<Value: Equatable>(of value: Value, _ action: @escaping (Value, Value) -> Void) -> some View {
        self
    }
    public func onOpenURL(perform action: @escaping (URL) -> Void) -> some View { self }
}

// Apps
@MainActor @resultBuilder public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
@MainActor public protocol Scene {}
public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
}
@MainActor public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}
extension App {
    public static func main() {}
}
