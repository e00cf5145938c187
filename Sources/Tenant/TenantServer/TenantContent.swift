import Languages
import TenantDirectory
import TenantSignIn

/// The texts and permissions that a tenant reads from its public folder when it starts.
struct TenantContent: Sendable {
    let reference: PermissionReference
    let languages: Languages

    init(publicFolder: String) throws(DemoTenantError) {
        reference = try PermissionReference(publicFolder: publicFolder)
        languages = try PageLayout(publicFolder: publicFolder, kioskURL: nil).languages
    }
}

extension DemoTenantConfiguration {
    /// Graph's permissions.
    func reference() throws(DemoTenantError) -> PermissionReference {
        guard let content else { return try PermissionReference(publicFolder: publicFolder) }
        return content.reference
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
