"""Authlib's server in Flask: RFC 9207's `iss`, PKCE, refresh tokens that rotate, revocation, sign-out. All of it in memory."""

import secrets
import time

import flask
import flask_site
from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.oauth2 import OAuth2Error, rfc6749, rfc6750, rfc7009, rfc7636, rfc9207
from authlib.oidc.core import OpenIDCode, UserInfo, UserInfoEndpoint
from authlib.oidc.core.grants import OpenIDToken
from authlib.oidc.core.models import AuthorizationCodeMixin
from authlib.oidc.rpinitiated import EndSessionEndpoint
from joserfc.jwk import KeySet, RSAKey
from registered import given

SCOPES = "openid profile email"
key = RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True)
keys = KeySet([key])
codes, tokens = {}, []
application = flask_site.application()
application.config |= {"OAUTH2_REFRESH_TOKEN_GENERATOR": True, "OAUTH2_SCOPES_SUPPORTED": SCOPES.split()}


class Client(rfc6749.ClientMixin):
    def __init__(self):
        self.client_id = given.client_id
        self.client_metadata = {"post_logout_redirect_uris": [given.signed_out_uri]}

    def get_client_id(self):
        return given.client_id

    def get_default_redirect_uri(self):
        return given.redirect_uri

    def get_allowed_scope(self, scope):
        return " ".join(each for each in scope.split() if each in SCOPES.split())

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri == given.redirect_uri

    def check_client_secret(self, client_secret):
        return secrets.compare_digest(client_secret, given.client_secret)

    def check_endpoint_auth_method(self, method, endpoint):
        # As registered where nothing is said: OpenID Connect Registration, section 2.
        return method == "client_secret_basic"

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type in ("authorization_code", "refresh_token")


class Code(AuthorizationCodeMixin):
    def __init__(self, code, data):
        self.code, self.data = code, data
        self.code_challenge, self.code_challenge_method = data.get("code_challenge"), data.get("code_challenge_method")
        self.auth_time = int(time.time())

    def get_redirect_uri(self):
        return self.data.get("redirect_uri")

    def get_scope(self):
        return self.data.get("scope")

    def get_nonce(self):
        return self.data.get("nonce")

    def get_auth_time(self):
        return self.auth_time


class Token(rfc6749.TokenMixin):
    def __init__(self, values):
        self.values, self.revoked, self.issued = values, False, time.time()
        self.scope = values["scope"]

    def check_client(self, client):
        return client.client_id == given.client_id

    def get_scope(self):
        return self.scope

    def get_expires_in(self):
        return self.values["expires_in"]

    def is_expired(self):
        return time.time() > self.issued + self.get_expires_in()

    def is_revoked(self):
        return self.revoked

    def get_user(self):
        return given.username

    def get_client(self):
        return Client()


def find(kind, value):
    return next((token for token in tokens if token.values.get(kind) == value and not token.revoked), None)


class CodeGrant(rfc6749.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic",)

    def save_authorization_code(self, code, request):
        codes[code] = Code(code, request.payload.data)

    def query_authorization_code(self, code, client):
        return codes.get(code)

    def delete_authorization_code(self, authorization_code):
        codes.pop(authorization_code.code, None)

    def authenticate_user(self, authorization_code):
        return given.username


class RefreshGrant(rfc6749.RefreshTokenGrant):
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        return find("refresh_token", refresh_token)

    def authenticate_user(self, refresh_token):
        return given.username

    def revoke_old_credential(self, refresh_token):
        refresh_token.revoked = True


def user_info(scope):
    return UserInfo(sub="1", **flask_site.claims()).filter(scope)


class Claims:
    def exists_nonce(self, nonce, request):
        return any(code.get_nonce() == nonce for code in codes.values())

    def resolve_client_private_key(self, client):
        return key

    def get_client_claims(self, client):
        return {"iss": given.base, "aud": given.client_id}

    def get_encode_header(self, client):
        return {"alg": "RS256", "kid": key.kid}

    def generate_user_info(self, user, scope):
        return user_info(scope)


class CodeClaims(Claims, OpenIDCode):
    pass


class RefreshClaims(Claims, OpenIDToken):
    def get_compatible_claims(self, request):
        # It says that the person has signed in just now, and only a code knows better.
        claims = super().get_compatible_claims(request)
        claims.pop("auth_time")
        return claims


class Issuer(rfc9207.IssuerParameter):
    def get_issuer(self):
        return given.base


class Revocation(rfc7009.RevocationEndpoint):
    def query_token(self, token_string, token_type_hint):
        return find("refresh_token", token_string) or find("access_token", token_string)

    def revoke_token(self, token, request):
        token.revoked = True


class EndSession(EndSessionEndpoint):
    def get_server_jwks(self):
        return keys

    def end_session(self, end_session_request):
        flask.session.clear()


class Bearer(rfc6750.BearerTokenValidator):
    def authenticate_token(self, token_string):
        return find("access_token", token_string)


class UserInfoAnswer(UserInfoEndpoint):
    def generate_user_info(self, user, scope):
        return user_info(scope)


server = AuthorizationServer(
    application, lambda client_id: Client() if client_id == given.client_id else None, lambda token, request: tokens.append(Token(token)))
server.register_grant(CodeGrant, [rfc7636.CodeChallenge(required=True), CodeClaims()])
server.register_grant(RefreshGrant, [RefreshClaims()])
server.register_extension(Issuer())
server.register_endpoint(Revocation)
server.register_endpoint(EndSession)
protector = ResourceProtector()
protector.register_token_validator(Bearer())
server.register_endpoint(UserInfoAnswer(server, protector))


@application.route("/authorize", methods=["GET", "POST"])
def authorize():
    user = flask_site.signed_in()
    try:
        grant = server.get_consent_grant(end_user=user)
    except OAuth2Error as error:
        return server.handle_error_response(server.create_oauth2_request(flask.request), error)
    consent = flask.request.form.get("consent")
    if not user:
        return flask_site.page(flask_site.SIGN_IN)
    if not consent:
        return flask_site.page(flask_site.CONSENT)
    return server.create_authorization_response(grant_user=user if consent == "allow" else None, grant=grant)


application.add_url_rule("/token", "token", lambda: server.create_token_response(), methods=["POST"])
application.add_url_rule("/revoke", "revoke", lambda: server.create_endpoint_response("revocation"), methods=["POST"])
application.add_url_rule("/userinfo", "userinfo", lambda: server.create_endpoint_response("userinfo"), methods=["GET", "POST"])
application.add_url_rule("/logout", "logout", lambda: server.create_endpoint_response("end_session") or "You are signed out.")
application.add_url_rule("/keys", "keys", lambda: keys.as_dict(private=False))
application.add_url_rule("/.well-known/openid-configuration", "metadata", lambda: {
    "issuer": given.base, "authorization_endpoint": given.base + "/authorize", "token_endpoint": given.base + "/token",
    "userinfo_endpoint": given.base + "/userinfo", "revocation_endpoint": given.base + "/revoke",
    "end_session_endpoint": given.base + "/logout", "jwks_uri": given.base + "/keys", "scopes_supported": SCOPES.split(),
    "response_types_supported": ["code"], "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["RS256"],
    "grant_types_supported": ["authorization_code", "refresh_token"], "code_challenge_methods_supported": ["S256"],
    "authorization_response_iss_parameter_supported": True,
})
flask_site.serve(application)
