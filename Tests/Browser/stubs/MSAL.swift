// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
// What the generated Swift uses of MSAL, as Swift sees its headers, to type-check it where there is no MSAL. Each declaration names
// the header of https://github.com/AzureAD/microsoft-authentication-library-for-objc/tree/dev/MSAL/src/public it is read from.

import Dispatch
import Foundation

#if APPKIT
    import AppKit
    public typealias MSALViewController = NSViewController
#else
    import UIKit
    public typealias MSALViewController = UIViewController
#endif

// MSALError.h
public let MSALErrorDomain = "MSALErrorDomain"
public enum MSALError: Int {
    case `internal` = -50000
    case workplaceJoinRequired = -50001
    case interactionRequired = -50002
    case serverDeclinedScopes = -50003
    case serverProtectionPoliciesRequired = -50004
    case userCanceled = -50005
    case serverError = -50006
}

// MSALDefinitions.h
public enum MSALPromptType: UInt {
    case selectAccount, login, consent, create, promptIfNecessary
}
public enum MSALWebviewType: Int {
    case `default`, authenticationSession
    #if !APPKIT
        case safariViewController
    #endif
    case wkWebView
}
public enum MSALDeviceMode: UInt {
    case `default`, shared
}
public typealias MSALCompletionBlock = (MSALResult?, (any Error)?) -> Void
public typealias MSALCurrentAccountCompletionBlock = (MSALAccount?, MSALAccount?, (any Error)?) -> Void
public typealias MSALSignoutCompletionBlock = (Bool, (any Error)?) -> Void
public typealias MSALDeviceInformationCompletionBlock = (MSALDeviceInformation?, (any Error)?) -> Void

// MSALAuthority.h, MSALAADAuthority.h, MSALB2CAuthority.h, MSALCIAMAuthority.h
open class MSALAuthority: NSObject {}
public final class MSALAADAuthority: MSALAuthority {
    public init(url: URL) throws {}
}
public final class MSALB2CAuthority: MSALAuthority {
    public init(url: URL) throws {}
}
public final class MSALCIAMAuthority: MSALAuthority {
    public init(url: URL) throws {}
}

// MSALPublicClientApplicationConfig.h
public final class MSALPublicClientApplicationConfig: NSObject {
    public var knownAuthorities: [MSALAuthority] = []
    public var clientApplicationCapabilities: [String]?
    public init(clientId: String, redirectUri: String?, authority: MSALAuthority?) {}
}

// MSALAccountId.h, MSALAccount.h
public final class MSALAccountId: NSObject {
    public var objectId: String { "" }
}
public final class MSALAccount: NSObject {
    public var username: String? { nil }
    public var identifier: String? { nil }
    public var homeAccountId: MSALAccountId? { nil }
    public var accountClaims: [String: Any]? { nil }
    override init() {}
}

// MSALResult.h
public final class MSALResult: NSObject {
    public let accessToken: String
    public let account: MSALAccount
    init(accessToken: String, account: MSALAccount) {
        self.accessToken = accessToken
        self.account = account
    }
}

// MSALDeviceInformation.h
public final class MSALDeviceInformation: NSObject {
    public var deviceMode: MSALDeviceMode { .default }
    override init() {}
}

// MSALClaimsRequest.h, MSALJsonDeserializable.h: its initializer is never nil, so that Swift has the error as a pointer, for
// which inout stands here.
public final class MSALClaimsRequest: NSObject {
    public init(jsonString: String, error: inout NSError?) {}
}

// MSALParameters.h
open class MSALParameters: NSObject {
    public var completionBlockQueue: DispatchQueue?
}

// MSALTokenParameters.h
open class MSALTokenParameters: MSALParameters {
    public var scopes: [String]
    public var account: MSALAccount?
    public var authority: MSALAuthority?
    public var claimsRequest: MSALClaimsRequest?
    public var extraQueryParameters: [String: String]?
    init(allScopes: [String]) { scopes = allScopes }
}

// MSALWebviewParameters.h: without a controller on macOS alone, where iOS has it deprecated.
public final class MSALWebviewParameters: NSObject {
    public var webviewType = MSALWebviewType.default
    public var prefersEphemeralWebBrowserSession = false
    public init(authPresentationViewController: MSALViewController) {}
    // Since MSAL 2, macOS needs the view controller too.
    @available(*, unavailable)
    override public init() {}
}

// MSALInteractiveTokenParameters.h
public final class MSALInteractiveTokenParameters: MSALTokenParameters {
    public var promptType = MSALPromptType.promptIfNecessary
    public var loginHint: String?
    public var extraScopesToConsent: [String]?
    public init(scopes: [String], webviewParameters: MSALWebviewParameters) { super.init(allScopes: scopes) }
}

// MSALSilentTokenParameters.h
public final class MSALSilentTokenParameters: MSALTokenParameters {
    public var forceRefresh = false
    public init(scopes: [String], account: MSALAccount) { super.init(allScopes: scopes) }
}

// MSALSignoutParameters.h
public final class MSALSignoutParameters: MSALParameters {
    public var signoutFromBrowser = false
    public init(webviewParameters: MSALWebviewParameters) {}
}

// MSALPublicClientApplication.h, MSALPublicClientApplication+SingleAccount.h. A method with a completion block has a form that is
// awaited too.
public final class MSALPublicClientApplication: NSObject {
    public init(configuration: MSALPublicClientApplicationConfig) throws {}

    public func acquireToken(
        with parameters: MSALInteractiveTokenParameters, completionBlock: @escaping MSALCompletionBlock
    ) {}
    public func acquireToken(with parameters: MSALInteractiveTokenParameters) async throws -> MSALResult {
        throw NSError(domain: MSALErrorDomain, code: MSALError.internal.rawValue)
    }
    public func acquireTokenSilent(
        with parameters: MSALSilentTokenParameters, completionBlock: @escaping MSALCompletionBlock
    ) {}
    public func acquireTokenSilent(with parameters: MSALSilentTokenParameters) async throws -> MSALResult {
        throw NSError(domain: MSALErrorDomain, code: MSALError.internal.rawValue)
    }
    public func getCurrentAccount(
        with parameters: MSALParameters?, completionBlock: @escaping MSALCurrentAccountCompletionBlock
    ) {}
    public func getDeviceInformation(
        with parameters: MSALParameters?, completionBlock: @escaping MSALDeviceInformationCompletionBlock
    ) {}
    public func signout(
        with account: MSALAccount, signoutParameters: MSALSignoutParameters,
        completionBlock: @escaping MSALSignoutCompletionBlock
    ) {}
    public func signout(with account: MSALAccount, signoutParameters: MSALSignoutParameters) async throws -> Bool {
        true
    }
    public func allAccounts() throws -> [MSALAccount] { [] }
    public func remove(_ account: MSALAccount) throws {}

    #if !APPKIT
        @discardableResult
        public static func handleMSALResponse(_ response: URL, sourceApplication: String?) -> Bool { true }
    #endif
}
