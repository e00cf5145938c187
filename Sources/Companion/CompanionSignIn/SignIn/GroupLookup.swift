import CompanionCore
import Languages
import OpenIDConnect
import WebFormats

/// Asks Graph for an account's groups if its ID token has too many to list, and a rule of the application names groups.
struct GroupLookup: Sendable {
    let provider: ProviderClient

    /// Returns Graph's answer for the rules; nil if no rule names a group, or if the ID token decides.
    ///
    /// - Parameter accessToken: the token that came with the ID token, for the application's API.
    /// - Throws: ``Problem`` `membership_unknown` if Graph has not answered, or does not list the groups.
    func answer(
        for claims: IDTokenClaims, accessToken: String?, _ application: Application
    ) async throws(Problem) -> GroupAnswer? {
        let asked = application.namedGroups
        guard !asked.isEmpty, let json = JSONValue(parsing: claims.json.utf8)?.object,
            DirectoryMembership(claims: json).groups == .tooMany
        else { return nil }
        guard let me = application.graphMe, let accessToken else {
            throw Problem(
                .membershipUnknown,
                "Your account is in too many groups to be listed in its token, and this application may not ask Microsoft Graph for them. Tell the operator.",
                reason: "the ID token has more groups than it lists, and the application's API is not Graph's /me")
        }
        let response: ProviderResponse
        do throws(OpenIDError) {
            response = try await provider.send(
                MemberObjects.request(at: me, accessToken: accessToken), timeout: ProviderClient.patience)
        } catch {
            throw GroupLookup.unavailable("Graph cannot be reached")
        }
        return GroupAnswer(asked: asked, groups: try GroupLookup.read(response))
    }

    private static func read(_ response: ProviderResponse) throws(Problem) -> Set<String> {
        do throws(MemberObjects.Failure) {
            return try MemberObjects.read(response)
        } catch {
            switch error {
            case .tooMany:
                throw Problem(
                    .membershipUnknown,
                    "Your account is in more groups than Microsoft Graph lists. Ask the operator for an app role instead.",
                    reason: "getMemberObjects returned Directory_ResultSizeLimitExceeded")
            case .refused(let status):
                throw Problem(
                    .membershipUnknown,
                    "Microsoft Graph did not say which groups your account is in. Tell the operator: the application needs User.Read.",
                    reason: "getMemberObjects returned \(status)")
            case .unavailable(let status): throw unavailable("getMemberObjects returned \(status)")
            }
        }
    }

    private static func unavailable(_ reason: String) -> Problem {
        Problem(
            .membershipUnknown,
            "Your account is in too many groups to be listed in its token, and Microsoft Graph cannot be asked right now. Try again in a moment.",
            reason: reason)
    }
}
