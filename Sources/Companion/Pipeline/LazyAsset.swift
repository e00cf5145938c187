import Dispatch
import HTTPServer
import Synchronization

/// An asset that is made when it is first asked for: few of the pages are ever read in all languages.
final class LazyAsset: Sendable {
    private let made = AtomicLazyReference<Asset>()
    private let make: @Sendable () -> Asset

    /// - Parameter make: makes the asset; two workers that ask at the same time may both call it.
    init(_ make: @escaping @Sendable () -> Asset) { self.make = make }

    /// The asset, the same one each time. It is compressed soon after it is made.
    var asset: Asset {
        if let asset = made.load() { return asset }
        let asset = made.storeIfNil(make())
        DispatchQueue.global(qos: .utility).async { asset.compress() }
        return asset
    }
}
