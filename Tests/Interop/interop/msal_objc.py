"""What MSAL for iOS and macOS does (version 2.13), in its order and with its checks. It runs on no Mac; the checks were read in its sources."""

import base64
import hashlib
import json
import secrets
import urllib.parse
import uuid

from .tenant import query, sign_in

VERSION = "2.13.0"
OIDC_SCOPES = ("openid", "profile", "offline_access")


class Refused(Exception):
    """An error of MSAL: its code, where it has one of its own, and what it says."""

    def __init__(self, says, code=None):
        super().__init__(f"{says} ({code})" if code else says)
        self.says, self.code = says, code


class Account:
    """What MSAL keeps of an account. The environment has the port."""

    def __init__(self, identifier, environment, refresh_token, id_token):
        self.identifier, self.environment, self.refresh_token, self.id_token = identifier, environment, refresh_token, id_token


class Application:
    """MSALPublicClientApplication with one authority, which is also its only known authority."""

    def __init__(self, session, kind, authority, client_id, redirect_uri, bundle):
        self.kind, self.authority, self.client_id, self.redirect_uri = kind, authority, client_id, redirect_uri
        self.session = session
        self.url = urllib.parse.urlsplit(authority)
        # MSIDAuthority.m, MSIDCIAMAuthority.m, MSIDB2CAuthority.m
        if self.url.scheme != "https":
            raise Refused("authority must use HTTPS")
        path = [each for each in self.url.path.split("/") if each]
        if kind == "CIAM" and self.url.netloc.count(".") < 1:
            raise Refused("It is not CIAM authority")
        if kind == "B2C" and (len(path) < 3 or path[0] != "tfp"):
            raise Refused("B2C authority should have at least 3 segments in the path")
        # MSIDRedirectUriVerifier.m
        if kind == "AAD" and redirect_uri != f"msauth.{bundle}://auth":
            raise Refused("the redirect URI is not msauth.<bundle ID>://auth", -42011)
        self.scheme = redirect_uri.split(":")[0]
        self.aliases, self.metadata = None, None

    # Requests of the library itself

    def headers(self, correlation_id):
        return {"client-request-id": correlation_id, "return-client-request-id": "true", "Accept": "application/json", **device()}

    def get(self, url, correlation_id, **parameters):
        return self.session.get(url, params={"x-client-Ver": VERSION, **parameters}, headers=self.headers(correlation_id), allow_redirects=False)

    # The authority

    def resolve(self, correlation_id):
        """Instance discovery, for AAD only, then the OpenID configuration, which is kept."""
        if self.kind == "AAD" and self.aliases is None:
            self.aliases = self.discover(correlation_id)
        if self.metadata is None:
            answer = self.get(self.authority + "/v2.0/.well-known/openid-configuration", correlation_id)
            if answer.status_code != 200:
                raise Refused(f"the metadata came with status {answer.status_code}")
            document = answer.json()
            for name in ("authorization_endpoint", "token_endpoint", "issuer"):
                if not isinstance(document.get(name), str):
                    raise Refused(f"{name} is missing in the metadata")
            if not isinstance(document.get("end_session_endpoint", ""), str):
                raise Refused("end_session_endpoint is not a string")
            tenant = self.url.path.split("/")[1]
            self.metadata = document | {"issuer": document["issuer"].replace("{tenantid}", tenant)}

    def discover(self, correlation_id):
        """The host is asked itself, because it is a known authority."""
        answer = self.get(f"https://{self.url.netloc}/common/discovery/instance", correlation_id, **{
            "api-version": "1.1", "authorization_endpoint": self.authority.lower() + "/oauth2/v2.0/authorize"})
        document = answer.json() if answer.status_code == 200 else {}
        if not isinstance(document.get("tenant_discovery_endpoint"), str):
            # Validation is off for a known authority: MSAL goes on without, and asks again in the next call.
            return None
        aliases = [self.url.netloc]
        for each in document.get("metadata", []):
            for name, form in (("preferred_network", str), ("preferred_cache", str), ("aliases", list)):
                if not isinstance(each.get(name), form):
                    raise Refused(f"{name} is missing in the instance discovery")
            if self.url.netloc in each["aliases"]:
                aliases = each["aliases"]
        return aliases

    # Tokens

    def acquire_token(self, scopes, username, claims=None):
        """Interactively: returns the account and the access token."""
        # MSIDRequestParameters.m
        if reserved := set(scopes) & set(OIDC_SCOPES):
            raise Refused(f"{reserved} are reserved scopes and may not be specified in the acquire token call", -42000)
        correlation_id = str(uuid.uuid4()).upper()
        self.resolve(correlation_id)
        verifier = encoded(secrets.token_bytes(32))
        state = encoded(json.dumps({"id": secrets.token_hex(8)}).encode())
        asked = " ".join((*scopes, *OIDC_SCOPES))
        parameters = {
            "client_id": self.client_id, "response_type": "code", "redirect_uri": self.redirect_uri, "scope": asked, "state": state,
            "code_challenge": encoded(hashlib.sha256(verifier.encode()).digest()), "code_challenge_method": "S256", "client_info": "1",
            "prompt": "select_account", "login_hint": username, "haschrome": "1", "return-client-request-id": "true",
            "client-request-id": correlation_id, "instance_aware": "true", **device()}
        if claims:
            parameters["claims"] = claims
        answer = query(self.browse(f"{self.metadata['authorization_endpoint']}?{urllib.parse.urlencode(parameters)}", username))
        if answer.get("state") != state:
            raise Refused("the state in the answer is another one", -42501)
        if "error" in answer:
            raise Refused(answer.get("error_description", answer["error"]))
        if "code" not in answer:
            raise Refused("there is no code in the answer", -42600)
        if "client_info" in answer:
            decoded(answer["client_info"])
        fields = {
            "grant_type": "authorization_code", "client_id": self.client_id, "code": answer["code"], "redirect_uri": self.redirect_uri,
            "code_verifier": verifier, "scope": asked, "client_info": "1"}
        return self.tokens(fields | ({"claims": claims} if claims else {}), scopes, correlation_id)

    def acquire_token_silent(self, account, scopes, claims=None):
        """With the refresh token, as when the access token has expired."""
        correlation_id = str(uuid.uuid4()).upper()
        self.resolve(correlation_id)
        # MSIDSilentTokenRequest.m, MSIDAADAuthority.m: the token endpoint's host without the port, the account's environment with it.
        if self.kind == "AAD":
            host = urllib.parse.urlsplit(self.metadata["token_endpoint"]).hostname
            if host not in (self.aliases or [account.environment]):
                raise Refused("User interaction is required (unable to use token from a different cloud)", -50002)
        fields = {
            "grant_type": "refresh_token", "client_id": self.client_id, "refresh_token": account.refresh_token,
            "scope": " ".join((*scopes, *OIDC_SCOPES)), "client_info": "1", "redirect_uri": self.redirect_uri}
        renewed, token = self.tokens(fields | ({"claims": claims} if claims else {}), scopes, correlation_id)
        if renewed.identifier != account.identifier:
            raise Refused("Different account was returned from the server", -42101)
        return renewed, token

    def tokens(self, fields, scopes, correlation_id):
        answer = self.session.post(
            self.metadata["token_endpoint"], params={"x-client-Ver": VERSION}, data=fields, allow_redirects=False,
            headers=self.headers(correlation_id) | {"Content-Type": "application/x-www-form-urlencoded"})
        result = answer.json()
        if "error" in result:
            raise Refused(result["error_description"], -50002 if result["error"] in ("interaction_required", "invalid_grant") else None)
        # MSIDDefaultTokenResponseValidator.m, MSIDAADV2Oauth2Factory.m
        if not result.get("access_token"):
            raise Refused("Authentication response received without expected accessToken")
        if not result.get("client_info"):
            raise Refused("Client info was not returned in the server response")
        granted = result.get("scope", fields["scope"]).lower().split()
        if declined := [scope for scope in scopes if scope.lower() not in granted]:
            raise Refused(f"Server returned less scopes than requested: {declined}", -50003)
        if not (int(result["expires_in"]) > 0 and result["token_type"].lower() == "bearer"):
            raise Refused("the token is no Bearer token that will expire")
        info = decoded(result["client_info"])
        # The signature is not checked.
        id_token = decoded(result["id_token"].split(".")[1])
        identifier = f"{info['uid']}.{info['utid']}"
        return Account(identifier, self.url.netloc, result.get("refresh_token"), id_token), result["access_token"]

    # The browser

    def sign_out(self, account):
        """With the browser: returns when it is back in the app."""
        self.resolve(str(uuid.uuid4()).upper())
        if not self.metadata.get("end_session_endpoint"):
            raise Refused("the authority has no end_session_endpoint")
        state = encoded(secrets.token_bytes(16))
        parameters = {"post_logout_redirect_uri": self.redirect_uri, "state": state}
        back = self.browse(f"{self.metadata['end_session_endpoint']}?{urllib.parse.urlencode(parameters)}", account.id_token.get("preferred_username"))
        if query(back).get("state") != state:
            raise Refused("the state in the answer is another one", -42501)

    def browse(self, url, username):
        """ASWebAuthenticationSession or the embedded web view, which refuses what is not https; a form may lead to the app only if its page allows it."""
        forms = []

        def see(page):
            # MSIDOAuth2EmbeddedWebviewController.m
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


def device():
    return {"x-client-SKU": "MSAL.iOS", "x-client-Ver": VERSION, "x-client-OS": "26.0", "x-client-CPU": "arm64", "x-client-DM": "iPhone"}


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text):
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
