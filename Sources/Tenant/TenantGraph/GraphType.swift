import WebFormats

/// A type of Graph's objects, as far as the query options need it.
struct GraphType: Sendable, Hashable {
    /// The name after `microsoft.graph.`.
    let name: String
    /// The properties of an answer without `$select`.
    let usual: [String]
    /// The properties that only `$select` shows. The tenant has no values for some of them.
    let further: [String]
    /// Those of ``further`` that are lists, and empty if the tenant has no value.
    var lists: Set<String> = []
    /// The properties that an answer has even if `$select` leaves them out. Mail always comes with its `id`.
    var constant: [String] = []
    /// The properties by which the directory sorts.
    var sortable: [String] = []
    /// The properties that one object has, and a collection cannot give (user-list.md, t2-graph-14).
    var single: Set<String> = []

    /// The name in messages of the directory.
    var title: String { name.prefix(1).uppercased() + name.dropFirst() }

    /// Returns the spelling of a property, which may be asked for in any case; nil if there is none.
    func property(_ name: String) -> String? {
        let name = name.lowercased()
        return (usual + further).first { $0.lowercased() == name }
    }

    static let user = GraphType(
        name: "user",
        usual: [
            "businessPhones", "displayName", "givenName", "id", "jobTitle", "mail", "mobilePhone", "officeLocation",
            "preferredLanguage", "surname", "userPrincipalName",
        ],
        further: [
            "aboutMe", "accountEnabled", "ageGroup", "assignedLicenses", "assignedPlans", "birthday", "city",
            "companyName", "consentProvidedForMinor", "country", "createdDateTime", "creationType", "deletedDateTime",
            "department", "employeeHireDate", "employeeId", "employeeOrgData", "employeeType", "externalUserState",
            "externalUserStateChangeDateTime", "faxNumber", "hireDate", "identities", "imAddresses", "interests",
            "isResourceAccount", "lastPasswordChangeDateTime", "legalAgeGroupClassification",
            "licenseAssignmentStates", "mailNickname", "mySite", "onPremisesDistinguishedName",
            "onPremisesDomainName", "onPremisesExtensionAttributes", "onPremisesImmutableId",
            "onPremisesLastSyncDateTime", "onPremisesProvisioningErrors", "onPremisesSamAccountName",
            "onPremisesSecurityIdentifier", "onPremisesSyncEnabled", "onPremisesUserPrincipalName", "otherMails",
            "passwordPolicies", "passwordProfile", "pastProjects", "postalCode", "preferredDataLocation",
            "preferredName", "provisionedPlans", "proxyAddresses", "responsibilities", "schools", "securityIdentifier",
            "showInAddressList", "signInActivity", "signInSessionsValidFromDateTime", "skills", "state",
            "streetAddress", "usageLocation", "userType",
        ],
        lists: [
            "assignedLicenses", "assignedPlans", "identities", "imAddresses", "interests", "licenseAssignmentStates",
            "onPremisesProvisioningErrors", "otherMails", "pastProjects", "provisionedPlans", "proxyAddresses",
            "responsibilities", "schools", "skills",
        ],
        sortable: ["displayName", "userPrincipalName"],
        single: [
            "aboutMe", "birthday", "hireDate", "interests", "mySite", "pastProjects", "preferredName",
            "responsibilities", "schools", "skills",
        ])

    static let group = GraphType(
        name: "group",
        usual: [
            "id", "deletedDateTime", "classification", "createdDateTime", "description", "displayName",
            "expirationDateTime", "groupTypes", "isAssignableToRole", "mail", "mailEnabled", "mailNickname",
            "membershipRule", "membershipRuleProcessingState", "onPremisesDomainName", "onPremisesLastSyncDateTime",
            "onPremisesNetBiosName", "onPremisesProvisioningErrors", "onPremisesSamAccountName",
            "onPremisesSecurityIdentifier", "onPremisesSyncEnabled", "preferredDataLocation", "preferredLanguage",
            "proxyAddresses", "renewedDateTime", "securityEnabled", "securityIdentifier", "theme", "visibility",
        ],
        further: ["assignedLabels", "assignedLicenses", "hasMembersWithLicenseErrors", "licenseProcessingState"],
        lists: ["assignedLabels", "assignedLicenses", "groupTypes", "onPremisesProvisioningErrors", "proxyAddresses"],
        sortable: ["displayName"])

    static let directoryRole = GraphType(
        name: "directoryRole", usual: ["id", "deletedDateTime", "description", "displayName", "roleTemplateId"],
        further: [], sortable: ["displayName"])

    static let organization = GraphType(
        name: "organization",
        usual: [
            "id", "deletedDateTime", "businessPhones", "city", "country", "countryLetterCode", "createdDateTime",
            "displayName", "isMultipleDataLocationsForServicesEnabled", "marketingNotificationEmails",
            "onPremisesLastSyncDateTime", "onPremisesSyncEnabled", "partnerTenantType", "postalCode",
            "preferredLanguage", "securityComplianceNotificationMails", "securityComplianceNotificationPhones",
            "state", "street", "technicalNotificationMails", "tenantType", "assignedPlans", "privacyProfile",
            "provisionedPlans", "verifiedDomains",
        ],
        further: ["defaultUsageLocation", "directorySizeQuota"],
        lists: [
            "assignedPlans", "businessPhones", "marketingNotificationEmails", "provisionedPlans",
            "securityComplianceNotificationMails", "securityComplianceNotificationPhones",
            "technicalNotificationMails",
        ], sortable: ["displayName"])

    static let message = GraphType(
        name: "message",
        usual: [
            "id", "createdDateTime", "lastModifiedDateTime", "changeKey", "categories", "receivedDateTime",
            "sentDateTime", "hasAttachments", "internetMessageId", "subject", "bodyPreview", "importance",
            "parentFolderId", "conversationId", "conversationIndex", "isDeliveryReceiptRequested",
            "isReadReceiptRequested", "isRead", "isDraft", "webLink", "inferenceClassification", "body", "sender",
            "from", "toRecipients", "ccRecipients", "bccRecipients", "replyTo", "flag",
        ],
        further: ["internetMessageHeaders", "uniqueBody"],
        lists: ["bccRecipients", "categories", "ccRecipients", "internetMessageHeaders", "replyTo"], constant: ["id"])

    static let application = GraphType(
        name: "application",
        usual: [
            "id", "deletedDateTime", "appId", "applicationTemplateId", "disabledByMicrosoftStatus",
            "createdDateTime", "displayName", "description", "groupMembershipClaims", "identifierUris",
            "isDeviceOnlyAuthSupported", "isFallbackPublicClient", "notes", "publisherDomain",
            "serviceManagementReference", "signInAudience", "tags", "tokenEncryptionKeyId", "uniqueName",
            "samlMetadataUrl", "defaultRedirectUri", "certification", "optionalClaims", "requestSignatureVerification",
            "addIns", "api", "appRoles", "info", "keyCredentials", "parentalControlSettings", "passwordCredentials",
            "publicClient", "requiredResourceAccess", "verifiedPublisher", "web", "servicePrincipalLockConfiguration",
            "spa",
        ],
        further: ["logo", "oauth2RequirePostResponse"],
        lists: ["addIns", "keyCredentials", "passwordCredentials", "tags"], sortable: ["displayName"])

    static let servicePrincipal = GraphType(
        name: "servicePrincipal",
        usual: [
            "id", "deletedDateTime", "accountEnabled", "alternativeNames", "appDisplayName", "appDescription", "appId",
            "applicationTemplateId", "appOwnerOrganizationId", "appRoleAssignmentRequired", "createdDateTime",
            "description", "disabledByMicrosoftStatus", "displayName", "homepage", "loginUrl", "logoutUrl", "notes",
            "notificationEmailAddresses", "preferredSingleSignOnMode", "preferredTokenSigningKeyThumbprint",
            "replyUrls", "servicePrincipalNames", "servicePrincipalType", "signInAudience", "tags",
            "tokenEncryptionKeyId", "samlSingleSignOnSettings", "addIns", "appRoles", "info", "keyCredentials",
            "oauth2PermissionScopes", "passwordCredentials", "resourceSpecificApplicationPermissions",
            "verifiedPublisher",
        ],
        further: ["customSecurityAttributes"],
        lists: [
            "addIns", "alternativeNames", "keyCredentials", "notificationEmailAddresses", "passwordCredentials",
            "resourceSpecificApplicationPermissions", "tags",
        ], sortable: ["displayName"])

    static let permissionGrant = GraphType(
        name: "oAuth2PermissionGrant",
        usual: ["clientId", "consentType", "id", "principalId", "resourceId", "scope"], further: [])

    static let appRoleAssignment = GraphType(
        name: "appRoleAssignment",
        usual: [
            "id", "deletedDateTime", "appRoleId", "createdDateTime", "principalDisplayName", "principalId",
            "principalType", "resourceDisplayName", "resourceId",
        ], further: [], sortable: [])
}

/// One object of Graph.
struct GraphEntity: Sendable, Hashable {
    let type: GraphType
    /// The properties that have values, and annotations, which are always shown.
    var members: [String: JSONValue]

    /// Returns the members of an answer.
    ///
    /// - Parameter select: The properties to show; empty for the usual ones.
    func shown(_ select: [String]) -> [String: JSONValue] {
        var shown = members.filter { $0.key.hasPrefix("@") }
        for property in select.isEmpty ? type.usual : type.constant + select.compactMap(type.property) {
            shown[property] = members[property] ?? (type.lists.contains(property) ? [] : .null)
        }
        return shown
    }

    /// Returns the value at the path of a property, such as `from/emailAddress/address`; null if there is none.
    func value(_ path: String) -> JSONValue {
        var names = path.split(separator: "/").map(String.init)[...]
        guard let name = names.popFirst(), let property = type.property(name) else { return .null }
        let value = members[property] ?? (type.lists.contains(property) ? [] : .null)
        return names.reduce(value) { $0[$1] ?? .null }
    }
}
