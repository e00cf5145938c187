import Foundation

/// The organiser's logo on a kiosk's pages: a PNG, read when the server starts.
package struct KioskLogo: Sendable, Equatable {
    /// The maximum size in bytes, because each visitor's browser loads the file.
    static let mostBytes = 256 * 1024
    /// The maximum width and height in pixels.
    static let mostPixels = 2048

    package let path: String
    package let bytes: [UInt8]
    /// The size in pixels.
    package let width, height: Int

    /// Reads a file.
    ///
    /// - Throws: ``WrongValue`` if the file cannot be read, is too large, or is not a PNG.
    init(path: String) throws(WrongValue) {
        guard let file = FileHandle(forReadingAtPath: path),
            let data = try? file.read(upToCount: KioskLogo.mostBytes + 1)
        else { throw WrongValue("names \(path), which cannot be read; check the path and its permissions") }
        guard data.count <= KioskLogo.mostBytes else {
            throw WrongValue("names a file of more than \(KioskLogo.mostBytes / 1024) KB; make the picture smaller")
        }
        guard let (width, height) = KioskLogo.size(of: data) else {
            throw WrongValue("names \(path), which is not a PNG; save the picture as PNG")
        }
        guard max(width, height) <= KioskLogo.mostPixels else {
            throw WrongValue(
                "names a picture of \(width) by \(height) pixels; at most \(KioskLogo.mostPixels) by \(KioskLogo.mostPixels) are allowed"
            )
        }
        self.path = path
        bytes = Array(data)
        (self.width, self.height) = (width, height)
    }

    /// Returns the size from a PNG (ISO/IEC 15948, sections 5.2 and 11.2.1): the signature, and the header as the
    /// first chunk.
    private static func size(of data: Data) -> (width: Int, height: Int)? {
        let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
        guard data.count > 33, data.starts(with: start) else { return nil }
        func number(at place: Int) -> Int { data.dropFirst(place).prefix(4).reduce(0) { $0 << 8 | Int($1) } }
        let (width, height) = (number(at: 16), number(at: 20))
        return width > 0 && height > 0 ? (width, height) : nil
    }
}
