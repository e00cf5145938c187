import Glibc
import HTTPWire
import WebFormats

/// A folder of files, read once and held in memory with everything their answers need.
///
/// A path is only ever looked up in the dictionary of files that were there at start, so no path of a request
/// reaches the file system. Symbolic links and names that begin with a dot are not read.
public struct StaticFiles: Sendable {
    private let assets: [String: Asset]

    /// Reads a folder with all its sub-folders.
    /// - Parameters:
    ///   - folder: Its path.
    ///   - maxTotalBytes: Refuses to hold more than this in memory.
    ///   - cacheControl: The `Cache-Control` of a file, from its path below the folder (`/assets/page.css`).
    ///     The default asks browsers to revalidate each time, which the ETag makes a 304.
    public init(
        folder: String, maxTotalBytes: Int = 64 << 20, cacheControl: (String) -> String = { _ in "no-cache" }
    ) throws(StaticFilesError) {
        var reader = FolderReader(remainingBytes: maxTotalBytes)
        try reader.read(folder: folder)
        var assets: [String: Asset] = [:]
        for file in reader.files {
            assets[file.path] = Asset(
                body: file.content, contentType: ContentType.of(fileName: file.path),
                cacheControl: cacheControl(file.path), lastModified: file.modified)
        }
        self.assets = assets
    }

    /// The file of a path as it stands in a request, still percent-encoded and beginning with `/`; nil when
    /// there is none. There are no index files: what `/` means is the application's affair.
    public subscript(path: String) -> Asset? {
        if let asset = assets[path] { return asset }
        guard path.utf8.contains(UInt8(ascii: "%")) else { return nil }
        return (try? PercentDecoding.decode(path.utf8)).flatMap { assets[$0] }
    }

    /// The paths of all files, sorted.
    public var paths: [String] { assets.keys.sorted() }
}

/// Why a folder could not be held in memory.
public enum StaticFilesError: Error, CustomStringConvertible, Equatable {
    /// A file or folder could not be read.
    case unreadable(path: String, reason: String)
    /// The files are larger together than allowed.
    case tooLarge(path: String)

    /// What is wrong, and with which file.
    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "cannot read \(path): \(reason)"
        case .tooLarge(let path): "the files of this folder are too large together, at \(path)"
        }
    }
}

/// Reads regular files below a folder, by descriptors (`openat`, `O_NOFOLLOW`): a link put in place while it
/// reads leads nowhere.
private struct FolderReader {
    struct File {
        let path: String
        let content: [UInt8]
        let modified: HTTPDate
    }

    var remainingBytes: Int
    var files: [File] = []

    init(remainingBytes: Int) { self.remainingBytes = remainingBytes }

    mutating func read(folder: String) throws(StaticFilesError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: folder, reason: reason(errno)) }
        try read(directory: descriptor, path: "")
    }

    /// Takes over the descriptor.
    private mutating func read(directory descriptor: Int32, path: String) throws(StaticFilesError) {
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            close(descriptor)
            throw .unreadable(path: path, reason: reason(code))
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(validating: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name, !name.hasPrefix(".") else { continue }
            try read(entry: name, of: dirfd(stream), path: "\(path)/\(name)")
        }
    }

    private mutating func read(entry name: String, of directory: Int32, path: String) throws(StaticFilesError) {
        // O_NONBLOCK: opening a pipe must not wait for a writer.
        let descriptor = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ELOOP { return }
            throw .unreadable(path: path, reason: reason(errno))
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw .unreadable(path: path, reason: reason(code))
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            return try read(directory: descriptor, path: path)
        }
        defer { close(descriptor) }
        guard status.st_mode & S_IFMT == S_IFREG else { return }
        let content = try content(of: descriptor, path: path)
        files.append(
            File(path: path, content: content, modified: HTTPDate(secondsSince1970: Int64(status.st_mtim.tv_sec))))
    }

    private mutating func content(of descriptor: Int32, path: String) throws(StaticFilesError) -> [UInt8] {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(path: path, reason: reason(errno)) }
            if count == 0 { return content }
            remainingBytes -= count
            guard remainingBytes >= 0 else { throw .tooLarge(path: path) }
            content += chunk[..<count]
        }
    }

    private func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
