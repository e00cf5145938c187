"""pyop, the provider in SATOSA, with a page of its own. It checks the request strictly: `offline_access` comes with a consent, or not."""

import secrets

import flask
import flask_site
from Cryptodome.PublicKey import RSA
from jwkest.jwk import RSAKey
from oic.oic.message import EndSessionRequest
from pyop.authz_state import AuthorizationState
from pyop.exceptions import InvalidAuthenticationRequest, InvalidClientAuthentication, OAuthError
from pyop.provider import Provider
from pyop.subject_identifier import HashBasedSubjectIdentifierFactory
from pyop.userinfo import Userinfo
from registered import given

provider = Provider(
    RSAKey(key=RSA.generate(2048), alg="RS256", use="sig", kid=secrets.token_hex(4)),
    {
        "issuer": given.base,
        "authorization_endpoint": given.base + "/authorization",
        "token_endpoint": given.base + "/token",
        "userinfo_endpoint": given.base + "/userinfo",
        "jwks_uri": given.base + "/jwks",
        "end_session_endpoint": given.base + "/logout",
        "scopes_supported": ["openid", "profile", "email", "offline_access"],
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "subject_types_supported": ["pairwise"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic"],
    },
    AuthorizationState(HashBasedSubjectIdentifierFactory(given.client_secret), refresh_token_lifetime=86400),
    {given.client_id: {
        "client_secret": given.client_secret, "redirect_uris": [given.redirect_uri], "response_types": ["code"],
        "post_logout_redirect_uris": [given.signed_out_uri],
    }},
    Userinfo({given.username: flask_site.claims()}),
)
application = flask_site.application()


@application.route("/authorization", methods=["GET", "POST"])
def authorization():
    try:
        request = provider.parse_authentication_request(flask.request.query_string.decode())
    except InvalidAuthenticationRequest as error:
        address = error.to_error_url()
        return flask.redirect(address, 303) if address else (f"Something went wrong: {error}", 400)
    user = flask_site.signed_in()
    if request.get("prompt") == ["none"] and not user:
        return flask_site.refusal(request["redirect_uri"], "login_required", request["state"])
    if not user:
        return flask_site.page(flask_site.SIGN_IN)
    return flask.redirect(provider.authorize(request, user).request(request["redirect_uri"]), 303)


@application.route("/token", methods=["POST"])
def token():
    try:
        return provider.handle_token_request(flask.request.get_data().decode(), flask.request.headers).to_dict()
    except InvalidClientAuthentication as error:
        return {"error": "invalid_client", "error_description": str(error)}, 401, {"WWW-Authenticate": "Basic"}
    except OAuthError as error:
        return {"error": error.oauth_error, "error_description": str(error)}, 400


@application.route("/userinfo", methods=["GET", "POST"])
def userinfo():
    try:
        return provider.handle_userinfo_request(flask.request.get_data().decode(), flask.request.headers).to_dict()
    except OAuthError as error:
        return {"error": error.oauth_error, "error_description": str(error)}, 401


@application.route("/logout")
def logout():
    request = EndSessionRequest().deserialize(flask.request.query_string.decode())
    back = provider.do_post_logout_redirect(request)
    provider.logout_user(end_session_request=request)
    flask.session.clear()
    return flask.redirect(back, 303) if back else "You are signed out."


application.add_url_rule("/jwks", "jwks", lambda: provider.jwks)
application.add_url_rule("/.well-known/openid-configuration", "metadata", lambda: provider.provider_configuration.to_dict())
flask_site.serve(application)
