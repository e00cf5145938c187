// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
// Documentation: the generated Swift uses this of AppKit. Declared as Apple has it, with its isolation,
// https://developer.apple.com/documentation/appkit

@_exported import Foundation
@_exported import ObjectiveC

@preconcurrency @MainActor open class NSResponder: NSObject {}

// Layout
@preconcurrency @MainActor public class NSLayoutAnchor<AnchorType: AnyObject>: NSObject {
    public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>) -> NSLayoutConstraint { NSLayoutConstraint() }
    public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>, constant: CGFloat) -> NSLayoutConstraint {
        NSLayoutConstraint()
    }
    public func constraint(
        greaterThanOrEqualTo anchor: NSLayoutAnchor<AnchorType>, constant: CGFloat
    ) -> NSLayoutConstraint { NSLayoutConstraint() }
}
public class NSLayoutXAxisAnchor: NSLayoutAnchor<NSLayoutXAxisAnchor> {}
public class NSLayoutYAxisAnchor: NSLayoutAnchor<NSLayoutYAxisAnchor> {}
public class NSLayoutDimension: NSLayoutAnchor<NSLayoutDimension> {
    public func constraint(equalToConstant constant: CGFloat) -> NSLayoutConstraint { NSLayoutConstraint() }
}
@preconcurrency @MainActor public class NSLayoutConstraint: NSObject {
    public class func activate(_ constraints: [NSLayoutConstraint]) {}
}

@preconcurrency @MainActor open class NSView: NSResponder {
    public struct AutoresizingMask: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let width = AutoresizingMask(rawValue: 2)
    }
    public var translatesAutoresizingMaskIntoConstraints = true
    public var autoresizingMask = AutoresizingMask()
    public var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    public var centerXAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    public var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    public var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    public var widthAnchor: NSLayoutDimension { NSLayoutDimension() }
    public var heightAnchor: NSLayoutDimension { NSLayoutDimension() }
    override public init() {}
    public init(frame: NSRect) {}
    open func addSubview(_ view: NSView) {}
}
open class NSControl: NSView {
    public var isEnabled = true
    public var stringValue = ""
    open func sizeToFit() {}
}
open class NSButton: NSControl {
    public enum BezelStyle { case rounded }
    public var bezelStyle = BezelStyle.rounded
    public init(title: String, target: Any?, action: Selector?) { super.init() }
}
open class NSTextField: NSControl {
    public init(labelWithString: String) { super.init() }
}
// Senders are of the type Any?, which the compiler cannot bridge without Objective-C.
open class NSText: NSView {
    @objc open func copy(_ sender: AnyObject?) {}
    @objc open func selectAll(_ sender: AnyObject?) {}
}
open class NSTextView: NSText {
    public var string = ""
    public var isEditable = true
    public var isVerticallyResizable = false
}
open class NSScrollView: NSView {
    public var hasVerticalScroller = false
    public var documentView: NSView?
}
@preconcurrency @MainActor open class NSViewController: NSResponder {
    public var view = NSView()
    open func loadView() {}
    open func viewDidLoad() {}
    open func viewDidAppear() {}
}
@preconcurrency @MainActor open class NSWindow: NSResponder {
    public var title = ""
    public init(contentViewController: NSViewController) {}
    open func center() {}
    open func makeKeyAndOrderFront(_ sender: Any?) {}
}

// Application
@preconcurrency @MainActor open class NSMenuItem: NSObject {
    public var submenu: NSMenu?
}
@preconcurrency @MainActor open class NSMenu: NSObject {
    override public init() {}
    public init(title: String) {}
    @discardableResult
    open func addItem(withTitle: String, action: Selector?, keyEquivalent: String) -> NSMenuItem { NSMenuItem() }
    open func addItem(_ item: NSMenuItem) {}
}
@preconcurrency @MainActor public protocol NSApplicationDelegate: AnyObject {
    func applicationDidFinishLaunching(_ notification: Notification)
    func applicationShouldTerminateAfterLastWindowClosed(_ sender: NSApplication) -> Bool
}
@preconcurrency @MainActor open class NSApplication: NSResponder {
    public class var shared: NSApplication { NSApplication() }
    public weak var delegate: (any NSApplicationDelegate)?
    public var mainMenu: NSMenu?
    open func run() {}
    open func activate() {}
    @objc open func terminate(_ sender: AnyObject?) {}
}
