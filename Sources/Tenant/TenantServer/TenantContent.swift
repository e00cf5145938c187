import Foundation
import HTTPServer
import Languages
import TenantDirectory
import TenantSignIn

/// The texts, files and permissions that a tenant reads from its public folder when it starts.
struct TenantContent: Sendable {
    let reference: PermissionReference
    let languages: Languages
    let assets: StaticFiles

    init(publicFolder: String) throws(DemoTenantError) {
        reference = try PermissionReference(publicFolder: publicFolder)
        languages = try PageLayout(publicFolder: publicFolder, kioskURL: nil).languages
        assets = try Self.assets(publicFolder: publicFolder)
    }

    /// Reads the files of the pages, which are compressed soon afterwards.
    static func assets(publicFolder: String) throws(DemoTenantError) -> StaticFiles {
        do {
            let assets = try StaticFiles(folder: publicFolder + "/tenant") { "/assets" + $0 }
            Thread.detachNewThread { assets.compress { true } }
            return assets
        } catch {
            throw .texts("\(error)")
        }
    }
}

extension DemoTenantConfiguration {
    /// Graph's permissions.
    func reference() throws(DemoTenantError) -> PermissionReference {
        guard let content else { return try PermissionReference(publicFolder: publicFolder) }
        return content.reference
    }

    /// The files of the pages.
    func assets() throws(DemoTenantError) -> StaticFiles {
        guard let content else { return try TenantContent.assets(publicFolder: publicFolder) }
        return content.assets
    }

    /// The layout of the pages, with their texts.
    func layout() throws(DemoTenantError) -> PageLayout {
        let homeURL = clients.lazy.compactMap(\.homeURL).first
        guard let content else {
            return try PageLayout(publicFolder: publicFolder, kioskURL: kioskURL, homeURL: homeURL)
        }
        return PageLayout(languages: content.languages, kioskURL: kioskURL, homeURL: homeURL)
    }
}
