// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
// What the generated Swift uses of UIKit, to type-check it where there is none. Declared as Apple's documentation has it,
// https://developer.apple.com/documentation/uikit

@_exported import Foundation
@_exported import FoundationNetworking

open class UIResponder: NSObject {}
open class UIView: UIResponder {}
open class UIControl: UIView {
    public var isEnabled = true
}
open class UIButton: UIControl {}
open class UILabel: UIView {
    public var text: String?
}
open class UITextView: UIView {
    public var text: String! = ""
}
open class UIViewController: UIResponder {
    public var title: String?
    open func viewDidLoad() {}
}

// Scenes, iOS 13
open class UIWindow: UIView {}
open class UIScene: UIResponder {
    open class OpenURLOptions: NSObject {
        public var sourceApplication: String? { nil }
    }
}
open class UIOpenURLContext: NSObject {
    public let url: URL
    public let options: UIScene.OpenURLOptions
    init(url: URL, options: UIScene.OpenURLOptions) {
        self.url = url
        self.options = options
    }
}
public protocol UIWindowSceneDelegate: AnyObject {
    var window: UIWindow? { get set }
    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>)
}
