import Foundation
import TestSupport
import Testing

@testable import CompanionCommand

@Suite struct LicensesTests {
    /// The places of the text, and what is found of the program in a build folder of a clone.
    private static let rows: [(files: [String], found: String)] = [
        (["named/licenses/NOTICE.txt", "clone/Public/licenses/NOTICE.txt", "clone/deploy/licenses/make"], "named"),
        (["clone/Public/licenses/NOTICE.txt", "clone/deploy/licenses/make"], "clone"),
        (["installed/licenses/NOTICE.txt"], "installed"),
        (
            ["clone/deploy/licenses/make"],
            "The licences have not been written yet. Run FOLDER/clone/deploy/licenses/make, then this again."
        ),
        (
            ["clone/Public/licenses/NOTICE.txt"],
            "FOLDER/named and FOLDER/installed have no licences. Name the folder of the pages with COMPANION_PUBLIC."
        ),
    ]

    @Test(arguments: rows)
    func `the licences are found from the folder of a build, or the command that writes them is named`(
        _ files: [String], _ found: String
    ) throws {
        let folder = TemporaryFolder.ofProcess.appendingPathComponent("licenses-\(UUID().uuidString)")
        defer { TemporaryFolder.remove(folder) }
        for name in files {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            let text = name.prefix { $0 != "/" }
            #expect(
                FileManager.default.createFile(
                    atPath: file.path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o755]))
        }
        let result = Result {
            String(
                decoding: try Licenses.text(
                    publicFolder: folder.path + "/named", program: folder.path + "/clone/.build/debug/companion",
                    installed: folder.path + "/installed"),
                as: UTF8.self)
        }
        let text =
            switch result {
            case .success(let text): text
            case .failure(let error): "\(error)"
            }
        #expect(text.replacing(folder.path, with: "FOLDER") == found)
    }
}
