import Foundation

extension DevelopmentCA {
    /// Returns the folder to use: the configured one, else `development-ca` in the user's data folder
    /// (`$XDG_DATA_HOME/companion`, `~/.local/share/companion`), else beside the database.
    ///
    /// - Parameters:
    ///   - configured: The setting; nil if there is none.
    ///   - environment: The process's environment. By the XDG specification a relative path in it counts as missing. A home
    ///     that does not exist, which is usual for users of services, counts as missing too.
    ///   - database: The file of the database.
    public static func folder(
        configured: String?, environment: [String: String], besides database: String
    ) -> String {
        if let configured { return configured }
        func absolute(_ name: String) -> String? {
            environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        var isFolder: ObjCBool = false
        if let data = absolute("XDG_DATA_HOME") { return data + "/companion/development-ca" }
        if let home = absolute("HOME"), FileManager.default.fileExists(atPath: home, isDirectory: &isFolder),
            isFolder.boolValue
        {
            return (home == "/" ? "" : home) + "/.local/share/companion/development-ca"
        }
        return URL(fileURLWithPath: database).deletingLastPathComponent().path + "/development-ca"
    }
}
