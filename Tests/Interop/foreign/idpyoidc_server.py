"""idpyoidc's provider with pushed authorization requests and its own sign-in page.

Its end_session endpoint is not configured, as in its default: it stops with a KeyError at a request that has a `client_id`.
"""

import json

import flask
import flask_site
from idpyoidc.message.oauth2 import ResponseMessage
from idpyoidc.server import Server
from idpyoidc.server.configure import OP_DEFAULT_CONFIG, OPConfiguration
from idpyoidc.server.exception import ClientAuthenticationError, FailedAuthentication, UnAuthorizedClient
from registered import given

METHODS = ["client_secret_basic", "client_secret_post"]
SCOPES = ["openid", "profile", "email", "offline_access"]
PAGE = flask_site.SIGN_IN.format(failure="", hidden='<input type="hidden" name="token" value="{{ token }}">').replace(
    "<form ", '<form action="/{{ action }}" ')

with open(f"{given.folder}/users.json", "w") as users, open(f"{given.folder}/sign-in.jinja2", "w") as page:
    json.dump({given.username: given.password}, users)
    page.write(PAGE)

server = Server(OPConfiguration({
    "issuer": given.base,
    "key_conf": {"key_defs": [{"type": "RSA", "use": ["sig"]}, {"type": "EC", "crv": "P-256", "use": ["sig"]}], "uri_path": "keys"},
    "preference": {"subject_types_supported": ["public"], "token_endpoint_auth_methods_supported": METHODS, "scopes_supported": SCOPES},
    "endpoint": OP_DEFAULT_CONFIG["endpoint"] | {"pushed_authorization": {
        "path": "pushed_authorization", "class": "idpyoidc.server.oauth2.pushed_authorization.PushedAuthorization",
        "kwargs": {"client_authn_method": METHODS},
    }},
    "add_on": {"pkce": {"function": "idpyoidc.server.oauth2.add_on.pkce.add_support", "kwargs": {"essential": True, "code_challenge_method": "S256"}}},
    "authentication": {"user": {
        "acr": "urn:oasis:names:tc:SAML:2.0:ac:classes:InternetProtocolPassword",
        "class": "idpyoidc.server.user_authn.user.UserPassJinja2",
        "kwargs": {
            "verify_endpoint": "verify/user", "template": "sign-in.jinja2",
            "db": {"class": "idpyoidc.server.util.JSONDictDB", "kwargs": {"filename": "users.json"}},
        },
    }},
    "userinfo": {"class": "idpyoidc.server.user_info.UserInfo", "kwargs": {"db": {given.username: flask_site.claims()}}},
    "token_handler_args": {name: value for name, value in OP_DEFAULT_CONFIG["token_handler_args"].items() if name != "jwks_file"} | {
        "jwks_def": {"key_defs": [{"type": "oct", "bytes": "24", "use": ["enc"], "kid": "code"}]}},
    "template_dir": given.folder,
    "session_params": {"encrypter": {"kwargs": {"keys": {"key_defs": [
        {"type": "OCT", "use": ["enc"], "kid": "password"}, {"type": "OCT", "use": ["enc"], "kid": "salt"}]}, "iterations": 1}}},
}, base_path=given.folder), cwd=given.folder)
server.context.cdb = {given.client_id: {
    "client_id": given.client_id, "client_secret": given.client_secret, "redirect_uris": [(given.redirect_uri, {})],
    "response_types_supported": ["code"], "token_endpoint_auth_method": "client_secret_basic",
    "allowed_scopes": SCOPES,
}}
application = flask_site.application()


def request_info():
    return {"headers": {name.lower(): value for name, value in flask.request.headers.items()}, "method": flask.request.method, "url": flask.request.url}


def refused(message):
    return json.loads(message.to_json()), 400


def finished(endpoint, result, **more):
    """The endpoint's answer: a page, a redirect, or a document."""
    if isinstance(result, ResponseMessage) and "error" in result:
        return refused(result)
    if "http_response" in result:
        return result["http_response"]
    answer = endpoint.do_response(**(result | more))
    if endpoint.response_placement == "url":
        return flask.redirect(answer["response"], 303)
    return flask.Response(answer["response"], answer.get("response_code", 200), answer["http_headers"])


def answer(name, request):
    endpoint = server.get_endpoint(name)
    try:
        parsed = endpoint.parse_request(request, http_info=request_info())
        if isinstance(parsed, ResponseMessage) and "error" in parsed:
            return refused(parsed)
        return finished(endpoint, endpoint.process_request(parsed, http_info=request_info()), request=parsed)
    except (ClientAuthenticationError, UnAuthorizedClient) as error:
        return {"error": "invalid_client", "error_description": str(error)}, 401
    except (KeyError, ValueError) as error:
        return {"error": "invalid_request", "error_description": str(error)}, 400


@application.post("/verify/user")
def verify():
    form = flask.request.form
    method = server.context.authn_broker.get_method_by_id("user")
    try:
        username = method.verify(username=form["username"], password=form["password"])
    except FailedAuthentication:
        return "This is not your password.", 403
    arguments = method.unpack_token(form["token"])
    endpoint = server.get_endpoint("authorization")
    request = endpoint.request_cls().from_urlencoded(arguments["query"])
    session = endpoint.create_session(request, username, arguments["authn_class_ref"], arguments["iat"], method)
    return finished(endpoint, endpoint.authz_part2(request, session), request=request)


def form():
    return flask.request.form.to_dict()


application.add_url_rule("/.well-known/openid-configuration", "metadata", lambda: answer("provider_config", {}))
application.add_url_rule("/keys", "keys", lambda: server.keyjar.export_jwks())
application.add_url_rule("/authorization", "authorization", lambda: answer("authorization", flask.request.args.to_dict()))
application.add_url_rule("/pushed_authorization", "push", lambda: answer("pushed_authorization", form()), methods=["POST"])
application.add_url_rule("/token", "token", lambda: answer("token", form()), methods=["POST"])
application.add_url_rule("/userinfo", "userinfo", lambda: answer("userinfo", form()), methods=["GET", "POST"])
flask_site.serve(application)
