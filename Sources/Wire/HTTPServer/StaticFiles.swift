import Foundation
import WebFormats

/// A folder of files, read once and held in memory with everything that responses need.
///
/// Paths are only looked up in the dictionary of files that existed at the start, so no path of a request reaches the
/// file system. Symbolic links and names that begin with a dot are not read.
///
/// Files below one folder may also have versioned names: `/assets/flow.0123456789ab.js` for `/assets/flow.js`. Browsers
/// keep these for a year without revalidation, because their content never changes. The files refer to each other by
/// these names. A versioned name of another version leads to this version's file, which is then revalidated, so that a
/// page from before an update still finds the files that it loads.
///
/// Scripts and style sheets are served without the comments that begin a line, which are a third of what they weigh.
public struct StaticFiles: Sendable {
    /// The `Cache-Control` of a file whose name changes with its content.
    public static let forever = "public, max-age=31536000, immutable"

    private var assets: [String: Asset] = [:]
    /// The files by their versioned names.
    private var versions: [String: Asset] = [:]
    private let names: VersionedNames

    /// Reads a folder with all its sub-folders.
    /// - Parameters:
    ///   - folder: Its path.
    ///   - maxTotalBytes: The most memory that the files may take.
    ///   - place: Returns the path at which a file is served, from its path below the folder. Of two files at one path,
    ///     the last is served.
    ///   - prefix: The path below which files have versioned names, such as `/assets/`; nil if none have.
    ///   - cacheControl: Returns the `Cache-Control` of a file under its plain name (`/assets/page.css`). The default
    ///     makes browsers revalidate each time, which the ETag turns into a 304.
    public init(
        folder: String, maxTotalBytes: Int = 64 << 20, servedAt place: (String) -> String = { $0 },
        versionedBelow prefix: String? = nil, cacheControl: (String) -> String = { _ in "no-cache" }
    ) throws(StaticFilesError) {
        var reader = FolderReader(remainingBytes: maxTotalBytes)
        try reader.read(folder: folder)
        for index in reader.files.indices {
            reader.files[index].path = place(reader.files[index].path)
            reader.files[index].content = Comments.removed(
                from: reader.files[index].content, of: ContentType.of(fileName: reader.files[index].path))
        }
        let versioned = reader.files.filter { file in prefix.map(file.path.hasPrefix) ?? false }
        names = VersionedNames(Dictionary(versioned.map { ($0.path, $0.content) }) { $1 })
        for file in reader.files {
            let type = ContentType.of(fileName: file.path)
            let name = names[file.path]
            let body =
                name != nil && ContentType.isText(type)
                ? names.rewritten(file.content, at: file.path) : file.content
            func asset(_ cacheControl: String, modified: HTTPDate? = nil) -> Asset {
                Asset(
                    body: body, contentType: type, cacheControl: cacheControl, lastModified: modified,
                    mayBeCompressed: ContentType.isText(type))
            }
            assets[file.path] = asset(cacheControl(file.path), modified: file.modified)
            // Its content says all: the same file was written at different times on different machines.
            if let name { versions[name] = asset(Self.forever) }
        }
    }

    /// Returns the file for a path in a request, still percent-encoded and beginning with `/`; nil if there is none.
    /// There are no index files: the application decides what `/` means.
    public subscript(path: String) -> Asset? {
        if let asset = versions[path] ?? assets[path] { return asset }
        if path.utf8.contains(UInt8(ascii: "%")) {
            return (try? PercentDecoding.decode(path.utf8)).flatMap { versions[$0] ?? assets[$0] }
        }
        guard let plain = VersionedNames.plain(path), names[plain] != nil else { return nil }
        return assets[plain]
    }

    /// The paths of all files, by their plain names, sorted.
    public var paths: [String] { assets.keys.sorted() }

    /// Returns the files whose plain names are wanted.
    public func only(_ isWanted: (String) -> Bool) -> StaticFiles {
        var files = self
        files.assets = assets.filter { isWanted($0.key) }
        let versions = Set(files.assets.keys.compactMap { names[$0] })
        files.versions = self.versions.filter { versions.contains($0.key) }
        return files
    }

    /// Returns a text that is not one of the files, with its references to the files replaced by versioned names.
    public func rewritten(_ text: String) -> String {
        String(decoding: names.rewritten(Array(text.utf8), at: "/"), as: UTF8.self)
    }

    /// Compresses the files that get smaller, one by one. Until then, files are served uncompressed. Takes a tenth of a
    /// second: do not call it on a worker.
    ///
    /// - Parameter isWanted: called before each file.
    public func compress(while isWanted: () -> Bool) {
        for (path, asset) in assets where isWanted() { asset.compress(with: names[path].flatMap { versions[$0] }) }
    }
}

/// The reason for which a folder could not be held in memory.
public enum StaticFilesError: Error, CustomStringConvertible, Equatable {
    /// A file or folder could not be read.
    case unreadable(path: String, reason: String)
    /// The files together are larger than allowed.
    case tooLarge(path: String)

    /// The problem, and the file that has it.
    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "cannot read \(path): \(reason)"
        case .tooLarge(let path): "the files of this folder are too large in total, at \(path)"
        }
    }
}

/// Reads regular files below a folder by descriptor (`openat`, `O_NOFOLLOW`), so that a link that is created while it
/// reads is not followed.
private struct FolderReader {
    struct File {
        var path: String
        var content: [UInt8]
        let modified: HTTPDate
    }

    var remainingBytes: Int
    var files: [File] = []
    private var chunk = [UInt8](repeating: 0, count: 64 * 1024)

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
        while true {
            let count = Foundation.read(descriptor, &chunk, chunk.count)
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
