import HTTPServer
import Synchronization

/// An asset that is made at its first request, because few pages are ever read in all languages.
final class LazyAsset: Sendable {
    private let made = AtomicLazyReference<Asset>()
    private let compression: AssetCompression
    private let make: @Sendable () -> Asset

    /// - Parameters:
    ///   - compression: compresses the asset soon after it is made.
    ///   - make: makes the asset. Two workers may call it at the same time.
    init(compressedBy compression: AssetCompression, _ make: @escaping @Sendable () -> Asset) {
        self.compression = compression
        self.make = make
    }

    /// The asset, which is the same object each time.
    var asset: Asset {
        if let asset = made.load() { return asset }
        let asset = made.storeIfNil(make())
        compression.add { asset.compress() }
        return asset
    }
}
