import Expiring
package import HTTPServer
import Logging
import Synchronization
package import TenantControl
import TenantDirectory

/// The endpoints of an identity platform: metadata and keys, sign-in and sign-out, tokens.
package final class IdentityPlatform: PlatformHandler {
    package let platform: Platform
    let layout: PageLayout
    /// The devices whose people sign in in a browser.
    let devices = Mutex(DeviceSignIns())
    /// The flows of apps that sign people in without a browser, and the codes that they send.
    let nativeFlows = Mutex(NativeFlows())
    package let outbox = Outbox()
    /// The requests of native authentication in the last second: those that continue a flow by its ID, the others by network.
    /// The number is that of Microsoft's service limits for an external tenant (reference-service-limits.md).
    let nativeSteps = Mutex(RecentTimes<String>(most: 20, within: 1, maxKeys: NativeFlows.mostCount))
    let nativeRequests = Mutex(RecentTimes<PeerAddress.Network>(most: 20, within: 1, maxKeys: 1000))
    private let opensOutbox: @Sendable (PeerAddress) -> Bool
    let wrongGuesses = Mutex(WrongGuesses())

    /// - Parameter opensOutbox: Whether someone at an address can open `/outbox`.
    package init(
        _ platform: Platform, layout: PageLayout, opensOutbox: @escaping @Sendable (PeerAddress) -> Bool = { _ in true }
    ) {
        self.platform = platform
        self.layout = layout
        self.opensOutbox = opensOutbox
    }

    /// Whether devices can sign in by a code. Not at a kiosk: no application would sign the person out of its browser.
    package var offersDeviceSignIn: Bool { layout.kioskURL == nil }

    /// Whether a page says that the code is in the outbox. The visitors of a kiosk are not led there.
    func leadsToOutbox(_ peer: PeerAddress) -> Bool { layout.kioskURL == nil && opensOutbox(peer) }

    /// Forgets the devices whose people have not finished.
    package func forgetDevices() { devices.withLock { $0 = DeviceSignIns() } }
}
