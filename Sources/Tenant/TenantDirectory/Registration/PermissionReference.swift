import Foundation
import WebFormats

/// Graph's permissions by its reference, with their real IDs: `data/graph-permissions.csv` of the public folder.
package struct PermissionReference: Sendable {
    /// Those of people.
    package private(set) var delegated: [Scopes.Permission] = []
    /// Those of applications.
    package private(set) var application: [DemoClient.AppRole] = []

    /// Reads the file.
    package init(publicFolder: String) throws(DemoTenantError) {
        let path = publicFolder + "/data/graph-permissions.csv"
        guard let data = FileManager.default.contents(atPath: path) else { throw .texts("\(path) cannot be read") }
        // By bytes: without the optimizer, characters take some ten milliseconds of each start.
        for line in Array(data).split(separator: UInt8(ascii: "\n")).dropFirst() {
            let columns = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            guard columns.count == 4 else {
                throw .texts("\(path) has a line of \(columns.count) columns: \(String(decoding: line, as: UTF8.self))")
            }
            let (name, id) = (columns[0], columns[2])
            if columns[1] == "application" {
                application.append(DemoClient.AppRole(value: name, id: id, allowed: [.application]))
            } else {
                delegated.append(
                    Scopes.Permission(
                        name: name, id: id, title: Scopes.graphTitles[name] ?? "\(name)", adminOnly: columns[3] == "yes"
                    ))
            }
        }
    }
}
