// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
// Documentation: the generated Swift uses this of UIKit. Declared as Apple has it, with its isolation,
// https://developer.apple.com/documentation/uikit

@_exported import Foundation
@_exported import ObjectiveC

// Foundation on Apple's platforms
extension NotificationCenter {
    public func addObserver(
        _ observer: Any, selector: Selector, name: NSNotification.Name?, object: Any?
    ) {}
}

@preconcurrency @MainActor open class UIResponder: NSObject {}

// Layout
@preconcurrency @MainActor public class NSLayoutAnchor<AnchorType: AnyObject>: NSObject {
    public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>) -> NSLayoutConstraint { NSLayoutConstraint() }
    public func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>, constant: CGFloat) -> NSLayoutConstraint {
        NSLayoutConstraint()
    }
}
public class NSLayoutXAxisAnchor: NSLayoutAnchor<NSLayoutXAxisAnchor> {}
public class NSLayoutYAxisAnchor: NSLayoutAnchor<NSLayoutYAxisAnchor> {}
public class NSLayoutDimension: NSLayoutAnchor<NSLayoutDimension> {
    public func constraint(equalToConstant constant: CGFloat) -> NSLayoutConstraint { NSLayoutConstraint() }
}
@preconcurrency @MainActor public class NSLayoutConstraint: NSObject {
    public enum Axis { case horizontal, vertical }
    public class func activate(_ constraints: [NSLayoutConstraint]) {}
}
public struct UILayoutPriority: Sendable {
    public static let defaultLow = UILayoutPriority()
}
@preconcurrency @MainActor open class UILayoutGuide: NSObject {
    public var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    public var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
}

open class UIColor: NSObject {
    public class var blue: UIColor { UIColor() }
    public class var gray: UIColor { UIColor() }
    public class var darkGray: UIColor { UIColor() }
    public class var white: UIColor { UIColor() }
}
public enum NSTextAlignment: Int { case left, center, right }
public enum UIUserInterfaceStyle: Int { case unspecified, light, dark }

@preconcurrency @MainActor open class UIView: UIResponder {
    public var backgroundColor: UIColor?
    public var translatesAutoresizingMaskIntoConstraints = true
    public var leftAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    public var rightAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    public var centerXAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    public var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    public var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    public var widthAnchor: NSLayoutDimension { NSLayoutDimension() }
    public var heightAnchor: NSLayoutDimension { NSLayoutDimension() }
    public var safeAreaLayoutGuide: UILayoutGuide { UILayoutGuide() }
    open func addSubview(_ view: UIView) {}
    open func setContentHuggingPriority(_ priority: UILayoutPriority, for axis: NSLayoutConstraint.Axis) {}
}
open class UIControl: UIView {
    public struct State: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let normal = State([])
        public static let disabled = State(rawValue: 2)
    }
    public struct Event: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let touchUpInside = Event(rawValue: 64)
    }
    public var isEnabled = true
    open func addTarget(_ target: Any?, action: Selector, for controlEvents: UIControl.Event) {}
}
open class UIButton: UIControl {
    open func setTitle(_ title: String?, for state: UIControl.State) {}
    open func setTitleColor(_ color: UIColor?, for state: UIControl.State) {}
}
open class UILabel: UIView {
    public var text: String?
    public var textColor: UIColor!
    public var textAlignment = NSTextAlignment.left
}
open class UITextView: UIView {
    public var text: String! = ""
    public var isEditable = true
}
open class UIStackView: UIView {
    public var axis = NSLayoutConstraint.Axis.horizontal
    public var spacing: CGFloat = 0
    public init(arrangedSubviews views: [UIView]) {}
}
@preconcurrency @MainActor open class UIViewController: UIResponder {
    public var title: String?
    public var view: UIView! = UIView()
    public var overrideUserInterfaceStyle = UIUserInterfaceStyle.unspecified
    open func viewDidLoad() {}
    open func viewDidAppear(_ animated: Bool) {}
}
open class UINavigationController: UIViewController {
    public init(rootViewController: UIViewController) {}
}

// Application
@preconcurrency @MainActor open class UIApplication: UIResponder {
    public struct LaunchOptionsKey: Hashable, Sendable {}
    public struct OpenURLOptionsKey: Hashable, Sendable {
        public static let sourceApplication = OpenURLOptionsKey()
    }
    public class var shared: UIApplication { UIApplication() }
    public weak var delegate: (any UIApplicationDelegate)?
    public var connectedScenes: Set<UIScene> { [] }
    public class var willEnterForegroundNotification: NSNotification.Name { NSNotification.Name("foreground") }
}
@preconcurrency @MainActor public protocol UIApplicationDelegate: AnyObject {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    func application(_ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any]) -> Bool
}
extension UIApplicationDelegate {
    public func application(_ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any])
        -> Bool
    { false }
    public static func main() {}
}

// Scenes, iOS 13
@preconcurrency @MainActor open class UIWindow: UIView {
    public var rootViewController: UIViewController?
    public var isKeyWindow: Bool { true }
    public init(windowScene: UIWindowScene) {}
    open func makeKeyAndVisible() {}
}
open class UISceneSession: NSObject {}
@preconcurrency @MainActor open class UIScene: UIResponder {
    open class OpenURLOptions: NSObject {
        public var sourceApplication: String? { nil }
    }
    open class ConnectionOptions: NSObject {}
}
@preconcurrency @MainActor open class UIWindowScene: UIScene {
    public var windows: [UIWindow] { [] }
}
open class UIOpenURLContext: NSObject {
    public let url: URL
    public let options: UIScene.OpenURLOptions
    init(url: URL, options: UIScene.OpenURLOptions) {
        self.url = url
        self.options = options
    }
}
@preconcurrency @MainActor public protocol UIWindowSceneDelegate: AnyObject {
    var window: UIWindow? { get set }
    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions)
    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>)
}
