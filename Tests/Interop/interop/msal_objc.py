"""The steps of MSAL for iOS and macOS, in its order and with its checks. It runs on no Mac; the checks were read in its sources.

A file and a line stand beside each: `M` is github.com/AzureAD/microsoft-authentication-library-for-objc 2.14.0 (66e2a4e8eb14), `C` its common
core microsoft-authentication-library-common-for-objc 1.26.0 (182bc269fcf8), which 2.14.0 has as its submodule.
"""

import hashlib
import secrets
import urllib.parse
import uuid

from .msal_objc_authority import Authority
from .msal_objc_requests import APP, DEVICE, Refused, Requests, Throttling, decoded, encoded
from .tenant import query, sign_in

OIDC_SCOPES = ("openid", "profile", "offline_access")
# C MSIDOAuth2Constants.m:174
NO_USERNAME = "Missing from the token response"


class Account:
    """The values that MSAL keeps of an account. The environment has the port."""

    def __init__(self, authority, asked, info, id_token, refresh_token):
        self.identifier, self.home_tenant = f"{info['uid']}.{info['utid']}", info["utid"]
        self.environment, self.refresh_token, self.id_token, self.uid = authority.host, refresh_token, id_token, info["uid"]
        # C MSIDTokenResponseValidator.m:401-408: the answer's authority, by the one that was asked.
        self.authorities = {asked.url: authority}
        # C MSIDB2COauth2Factory.m:113
        self.username = id_token.get("preferred_username") or (NO_USERNAME if authority.kind == "B2C" else id_token.get("upn"))
        # M MSALAccount.m:106, C MSIDAccount.m:166: an app has them only where the realm is the home tenant.
        self.claims = id_token if authority.realm == info["utid"] else None


class Application:
    """MSALPublicClientApplication with one authority, which is also its only known authority."""

    def __init__(self, session, kind, authority, client_id, redirect_uri, bundle, clouds=False):
        self.authority, self.client_id, self.redirect_uri, self.session = Authority(kind, authority), client_id, redirect_uri, session
        self.kind, self.has_clouds = kind, clouds
        # C util/ios/MSIDRedirectUriVerifier.m:66
        if kind == "AAD" and redirect_uri != f"msauth.{bundle}://auth":
            raise Refused("the redirect URI is not msauth.<bundle ID>://auth", -42011)
        self.scheme = redirect_uri.split(":")[0]
        self.aliases, self.metadata = None, {}
        self.requests, self.throttling = Requests(session), Throttling()

    # The authority

    def resolve(self, correlation_id, authority=None):
        """Instance discovery, for AAD only, then the OpenID configuration, which is kept; returns it."""
        authority = authority or self.authority
        if self.kind == "AAD" and self.aliases is None:
            self.aliases = self.discover(authority, correlation_id)
        # C MSIDAuthority.m:234-253
        if authority.metadata_url not in self.metadata:
            document = self.requests.members(self.requests.send("GET", authority.metadata_url, correlation_id))
            # C MSIDAADOpenIdConfigurationInfoResponseSerializer.m:63, 82-112
            if "error" in document:
                raise Refused(document["error_description"], oauth=document["error"])
            for name in ("authorization_endpoint", "token_endpoint", "issuer"):
                if not isinstance(document.get(name), str):
                    raise Refused(f"{name} is missing in the metadata")
            if not isinstance(document.get("end_session_endpoint", ""), str):
                raise Refused("end_session_endpoint is not a string")
            self.metadata[authority.metadata_url] = document | {"issuer": document["issuer"].replace("{tenantid}", authority.path[0])}
        return self.metadata[authority.metadata_url]

    def discover(self, authority, correlation_id):
        """C MSIDAadAuthorityResolver.m:128-133: the host is asked itself, because it is a known authority."""
        answer = self.requests.send("GET", f"https://{authority.host}/common/discovery/instance", correlation_id, params={
            "api-version": "1.1", "authorization_endpoint": authority.url + "/oauth2/v2.0/authorize"})
        document = answer.json() if answer.status_code == 200 else {}
        if not isinstance(document.get("tenant_discovery_endpoint"), str):
            # C MSIDAadAuthorityResolver.m:138-149: for a known authority MSAL goes on without, and asks again in the next call.
            return None
        aliases = [authority.host]
        for each in document.get("metadata", []):
            # C MSIDAadAuthorityCache.m:136
            for name, form in (("preferred_network", str), ("preferred_cache", str), ("aliases", list)):
                if not isinstance(each.get(name), form):
                    raise Refused(f"{name} is missing in the instance discovery")
            if authority.host in each["aliases"]:
                aliases = each["aliases"]
        return aliases

    # Tokens

    def acquire_token(self, scopes, username, claims=None, account=None):
        """Interactively: returns the account and the access token."""
        # C MSIDRequestParameters.m:82
        if reserved := set(scopes) & set(OIDC_SCOPES):
            raise Refused(f"{reserved} are reserved scopes and may not be specified in the acquire token call", -42000)
        correlation_id = str(uuid.uuid4()).upper()
        metadata = self.resolve(correlation_id)
        verifier = encoded(secrets.token_bytes(32))
        # C MSIDWebviewFactory.m:268, 212
        state = encoded(str(uuid.uuid4()).upper().encode())
        asked = " ".join((*scopes, *OIDC_SCOPES))
        # C MSIDWebviewFactory.m:183-220, MSIDInteractiveTokenRequestParameters.m:95 (x-app-name and x-app-ver), MSIDAADV2WebviewFactory.m:44
        parameters = {
            "scope": asked, "client_id": self.client_id, "response_type": "code", "redirect_uri": self.redirect_uri, "login_hint": username, **APP,
            "code_challenge": encoded(hashlib.sha256(verifier.encode()).digest()), "code_challenge_method": "S256", "state": state,
            "prompt": "select_account", "client_info": "1", **self.metadata_parameters(correlation_id, account)}
        # C MSIDAADWebviewFactory.m:89, M MSALPublicClientApplication.m:679
        if self.has_clouds:
            parameters["instance_aware"] = "true"
        if claims:
            parameters["claims"] = claims
        answer = query(self.browse(f"{metadata['authorization_endpoint']}?{urllib.parse.urlencode(parameters)}", username))
        # C MSIDWebOAuth2Response.m:38
        if answer.get("state") != state:
            raise Refused("the state in the answer is another one", -42501)
        if "error" in answer:
            raise Refused(answer.get("error_description", answer["error"]), oauth=answer["error"])
        # C MSIDWebOAuth2AuthCodeResponse.m:45
        if "code" not in answer:
            raise Refused("there is no code in the answer", -42600)
        if "client_info" in answer:
            decoded(answer["client_info"])
        # C MSIDTokenRequest.m:48, MSIDAuthorizationCodeGrantRequest.m:49-53, MSIDAADAuthorizationCodeGrantRequest.m:61
        fields = {
            "client_id": self.client_id, "scope": asked, "redirect_uri": self.redirect_uri, "grant_type": "authorization_code",
            "code": answer["code"], "code_verifier": verifier, "client_info": "1"}
        found = self.tokens(self.authority, metadata["token_endpoint"], fields | ({"claims": claims} if claims else {}), scopes, correlation_id)
        # C MSIDLocalInteractiveController.m:108
        self.throttling.interactive_at = self.throttling.now()
        return found

    def acquire_token_silent(self, account, scopes, claims=None):
        """With the refresh token, as when the access token has expired."""
        correlation_id = str(uuid.uuid4()).upper()
        authority = self.authority.of_silent_request(account)
        metadata = self.resolve(correlation_id, authority)
        # C MSIDSilentTokenRequest.m:544, MSIDAADAuthority.m:276: the token endpoint's host without the port, the account's environment with it.
        if self.kind == "AAD":
            host = urllib.parse.urlsplit(metadata["token_endpoint"]).hostname
            if host not in (self.aliases or [account.environment]):
                raise Refused("User interaction is required (unable to use token from a different cloud).", -50002)
        # C MSIDRefreshTokenGrantRequest.m:53-55, MSIDAADRefreshTokenGrantRequest.m:57
        fields = {
            "client_id": self.client_id, "scope": " ".join((*scopes, *OIDC_SCOPES)), "grant_type": "refresh_token",
            "refresh_token": account.refresh_token, "redirect_uri": self.redirect_uri, "client_info": "1"}
        fields |= {"claims": claims} if claims else {}
        self.throttling.check(metadata["token_endpoint"], fields)
        try:
            renewed, token = self.tokens(authority, metadata["token_endpoint"], fields, scopes, correlation_id)
        except Refused as error:
            # C MSIDSilentTokenRequest.m:495-516, 397: every OAuth error needs the person, but for these, of which one is MSAL's own.
            if error.code != -50004 and error.oauth and error.oauth not in ("invalid_scope", "invalid_client"):
                error.code = -50002
            self.throttling.note(metadata["token_endpoint"], fields, error)
            raise
        # C MSIDDefaultTokenResponseValidator.m:103-120
        if renewed.identifier != account.identifier:
            raise Refused("Different account was returned from the server", -42101)
        renewed.authorities = account.authorities | renewed.authorities
        return renewed, token

    def tokens(self, authority, endpoint, fields, scopes, correlation_id):
        result = self.requests.members(self.requests.send("POST", endpoint, correlation_id, data=fields))
        # C MSIDOauth2Factory.m:83-98, and MSIDAADOauth2Factory.m:108-112 for an app that has to load Intune's policies
        if "error" in result:
            protected = (result["error"], result.get("suberror")) == ("unauthorized_client", "protection_policy_required")
            raise Refused(result["error_description"], -50004 if protected else None, oauth=result["error"])
        # C MSIDOauth2Factory.m:103: one of the two is enough.
        if not result.get("access_token") and not result.get("id_token"):
            raise Refused("Authentication response received without expected accessToken and idToken")
        # C MSIDAADV2Oauth2Factory.m:119
        if not result.get("client_info"):
            raise Refused("Client info was not returned in the server response")
        # C MSIDTokenResponseValidator.m:122
        if result.get("token_type") and result["token_type"].lower() != "bearer":
            raise Refused("Please update Microsoft Authenticator to the latest version. Pop tokens are not supported with this broker version.")
        # C MSIDDefaultTokenResponseValidator.m:47-93, MSIDAADV2Oauth2Factory.m:147
        granted = [*result.get("scope", fields["scope"]).lower().split(), "email"]
        if result.get("access_token") and (declined := [scope for scope in scopes if scope.lower() not in granted]):
            raise Refused(f"Server returned less scopes than requested: {declined}", -50003)
        # The signature is not checked.
        id_token = decoded(result["id_token"].split(".")[1])
        info = decoded(result["client_info"])
        account = Account(authority.of_answer(info, id_token), authority, info, id_token, result.get("refresh_token"))
        return account, result.get("access_token")

    # The browser

    def metadata_parameters(self, correlation_id, account):
        """C MSIDAADWebviewFactory.m:105-115, MSIDAADV2WebviewFactory.m:62"""
        known = {"login_req": account.uid, "domain_req": account.home_tenant} if account else {}
        return {"return-client-request-id": "true", "client-request-id": correlation_id, "haschrome": "1", **DEVICE, **known}

    def sign_out(self, account):
        """With the browser: returns when it is back in the app."""
        correlation_id = str(uuid.uuid4()).upper()
        metadata = self.resolve(correlation_id)
        if not metadata.get("end_session_endpoint"):
            raise Refused("the authority has no end_session_endpoint")
        state = encoded(str(uuid.uuid4()).upper().encode())
        # C MSIDWebviewFactory.m:229-233
        parameters = {"post_logout_redirect_uri": self.redirect_uri, "state": state, **self.metadata_parameters(correlation_id, account), **APP}
        back = self.browse(f"{metadata['end_session_endpoint']}?{urllib.parse.urlencode(parameters)}", account.id_token.get("preferred_username"))
        if query(back).get("state") != state:
            raise Refused("the state in the answer is another one", -42501)

    def browse(self, url, username):
        """ASWebAuthenticationSession or the embedded web view, which refuses what is not https; a form may lead to the app only if its page allows it."""
        forms = []

        def see(page):
            # C MSIDOAuth2EmbeddedWebviewController.m:525
            if not page.url.startswith("https:"):
                raise Refused(f"a page is not https: {page.url}", -42602)
            if "<form" in page.text:
                forms.append(page.headers.get("Content-Security-Policy", ""))

        class Https:
            """The session's navigations, each of which has to be https."""

            def __getattr__(_, name):
                def navigate(address, **more):
                    if not address.startswith("https:"):
                        raise Refused(f"the browser is sent to {address}", -42602)
                    return getattr(self.session, name)(address, **more)
                return navigate

        try:
            back = sign_in(Https(), url, self.redirect_uri, username=username, on_page=see)
        except AssertionError as error:
            raise Refused(f"the browser does not come back: {error}") from error
        # Content Security Policy 3, form-action, which Safari also applies to the redirect after a form.
        if forms:
            actions = next((each.split()[1:] for each in forms[-1].split(";") if each.split()[:1] == ["form-action"]), None)
            if actions is not None and f"{self.scheme.lower()}:" not in (each.lower() for each in actions):
                raise Refused(f"form-action does not allow {self.scheme}: {actions}")
        return back
