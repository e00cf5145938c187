// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
// What the generated Swift uses of AppKit, to type-check it where there is none. Declared as Apple's documentation has it,
// https://developer.apple.com/documentation/appkit

@_exported import Foundation
@_exported import FoundationNetworking

open class NSResponder: NSObject {}
open class NSView: NSResponder {}
open class NSControl: NSView {
    public var isEnabled = true
    public var stringValue = ""
}
open class NSButton: NSControl {}
open class NSTextField: NSControl {}
open class NSTextView: NSView {
    public var string = ""
}
open class NSViewController: NSResponder {
    open func viewDidLoad() {}
}
