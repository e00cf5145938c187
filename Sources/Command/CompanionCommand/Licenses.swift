import Foundation

/// The licences of all that the program contains, as `deploy/licenses/make` writes them.
enum Licenses {
    /// Returns the text: beside the pages that are named or here, in the clone in which the program was built, or of the package.
    ///
    /// - Parameters:
    ///   - publicFolder: the folder of the pages.
    ///   - program: the program's file.
    ///   - installed: the package's pages.
    /// - Throws: ``CommandFailure`` with what to do, if nothing has been written.
    static func text(
        publicFolder: String, program: String, installed: String = "/usr/share/companion/Public"
    ) throws -> Data {
        let above = sequence(first: URL(fileURLWithPath: program).deletingLastPathComponent()) { folder in
            folder.path == "/" ? nil : folder.deletingLastPathComponent()
        }
        let clone = above.first { isClone($0.path) }?.path
        let folders = [publicFolder, clone.map { $0 + "/Public" }, installed].compactMap(\.self)
        for folder in folders {
            if let text = FileManager.default.contents(atPath: folder + "/licenses/NOTICE.txt") { return text }
        }
        guard let clone else {
            throw CommandFailure(
                "\(folders.joined(separator: " and ")) have no licences. Name the folder of the pages with COMPANION_PUBLIC."
            )
        }
        throw CommandFailure(
            "The licences have not been written yet. Run \(clone)/deploy/licenses/make, then this again.")
    }

    private static func isClone(_ folder: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: folder + "/deploy/licenses/make")
    }
}
