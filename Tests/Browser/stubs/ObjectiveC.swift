// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
// The type of `#selector`, which the compiler looks up in this module.

public struct Selector {
    public init(_ name: String) {}
}
