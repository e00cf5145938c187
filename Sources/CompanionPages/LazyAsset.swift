import HTTPServer
import Synchronization

/// An asset that is made when it is first asked for: few of the pages are ever read in all languages.
final class LazyAsset: Sendable {
    private let made = AtomicLazyReference<Asset>()
    private let compression: AssetCompression
    private let make: @Sendable () -> Asset

    /// - Parameters:
    ///   - compression: compresses it soon after it is made.
    ///   - make: makes the asset; two workers that ask at the same time may both call it.
    init(compressedBy compression: AssetCompression, _ make: @escaping @Sendable () -> Asset) {
        self.compression = compression
        self.make = make
    }

    /// The asset, the same one each time.
    var asset: Asset {
        if let asset = made.load() { return asset }
        let asset = made.storeIfNil(make())
        compression.add { asset.compress() }
        return asset
    }
}
