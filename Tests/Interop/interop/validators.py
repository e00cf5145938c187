"""Validators that are not ours, each set up as its documentation says for an API of one version of access tokens.

Each has to accept the token of its version, and to refuse that of the other version, Graph's, an ID token, one for another API, and one
that was changed.
"""

import asyncio
import json
import logging
import os
import pathlib
import ssl
import subprocess
import urllib.parse
from contextlib import contextmanager

import jose.jwt
import joserfc.jwk
import joserfc.jwt
import jwcrypto.jwk
import jwcrypto.jwt
import jwt
import requests
from authlib.jose import JsonWebKey, JsonWebToken
from fastapi.security import SecurityScopes
from fastapi_azure_auth.auth import AzureAuthorizationCodeBearerBase
from starlette.requests import Request
from patience import answered
from suite.registry import registry
from suite.server import free_pair_of_ports

from .tenant import ADELE, BUNDLE, SECRET, WEB_URI, query, running, sign_in

tests, test = registry("validators")
# It writes each refusal, with its stack.
logging.getLogger("fastapi_azure_auth").setLevel(logging.CRITICAL)
ORGANIZATION = "5c7d0b28-bdf8-410c-aa93-4df372b16203"


class API:
    """An API as its owner writes it down: the audience, the issuer, and the metadata with the keys."""

    def __init__(self, tenant, version, audience):
        self.root, self.audience = tenant.root, audience
        self.metadata = f"{tenant.origin}/{ORGANIZATION}{'/v2.0' if version == 2 else ''}/.well-known/openid-configuration"
        document = tenant.session().get(self.metadata).json()
        self.issuer, self.keys = document["issuer"], tenant.session().get(document["jwks_uri"]).json()

    def key(self, token):
        kid = jwt.get_unverified_header(token)["kid"]
        return next(key for key in self.keys["keys"] if key["kid"] == kid)


def pyjwt(api, token):
    return jwt.decode(token, jwt.PyJWK(api.key(token)).key, algorithms=["RS256"], audience=api.audience, issuer=api.issuer)


def python_jose(api, token):
    return jose.jwt.decode(token, api.keys, algorithms=["RS256"], audience=api.audience, issuer=api.issuer)


def authlib(api, token):
    wanted = {"iss": {"essential": True, "value": api.issuer}, "aud": {"essential": True, "value": api.audience}}
    claims = JsonWebToken(["RS256"]).decode(token, JsonWebKey.import_key_set(api.keys), claims_options=wanted)
    claims.validate()
    return claims


def rfc(api, token):
    wanted = joserfc.jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": api.issuer}, aud={"essential": True, "value": api.audience}, exp={"essential": True})
    found = joserfc.jwt.decode(token, joserfc.jwk.KeySet.import_key_set(api.keys), algorithms=["RS256"])
    wanted.validate(found.claims)
    return found.claims


def crypto(api, token):
    keys = jwcrypto.jwk.JWKSet.from_json(json.dumps(api.keys))
    found = jwcrypto.jwt.JWT(jwt=token, key=keys, algs=["RS256"], check_claims={"iss": api.issuer, "aud": api.audience, "exp": None})
    return json.loads(found.claims)


def fastapi(api, token):
    bearer = AzureAuthorizationCodeBearerBase(
        app_client_id=api.audience, tenant_id=ORGANIZATION, openid_config_url=api.metadata,
        http_client_config={"verify": ssl.create_default_context(cafile=api.root), "trust_env": False})
    request = Request({"type": "http", "method": "GET", "path": "/", "headers": [(b"authorization", f"Bearer {token}".encode())]})
    return asyncio.run(bearer(request, SecurityScopes(["Tasks.Read"]))).claims


def program(*command):
    def validate(api, token):
        given = json.dumps({"token": token, "keys": api.keys, "issuer": api.issuer, "audience": api.audience})
        done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr[-300:]
        return json.loads(done.stdout)

    return validate


node = program("node", "-e", """
const jose = require("/usr/share/nodejs/jose");
const given = JSON.parse(require("fs").readFileSync(0));
jose.jwtVerify(given.token, jose.createLocalJWKSet(given.keys), { issuer: given.issuer, audience: given.audience })
  .then(({ payload }) => console.log(JSON.stringify(payload)), (error) => { console.error(String(error)); process.exit(1); });
""")

perl = program("perl", "-MCrypt::JWT=decode_jwt", "-MJSON::PP", "-e", """
my $given = decode_json(join "", <STDIN>);
print encode_json(decode_jwt(token => $given->{token}, kid_keys => $given->{keys}, accepted_alg => "RS256",
  verify_iss => $given->{issuer}, verify_aud => $given->{audience}));
""")



@contextmanager
def apache(folder, apis):
    """mod_oauth2 in Apache, with one place for each API; the function that asks it."""
    modules, own, port = pathlib.Path("/usr/lib/apache2/modules"), folder / "apache", free_pair_of_ports()
    own.mkdir()
    for each in (folder, own):
        each.chmod(0o755)
    names = ("mpm_event", "authn_core", "authz_core", "headers", "oauth2")
    # It takes the machine's authorities, which the root is not among, or none.
    unchecked = "metadata.ssl_verify=false&jwks_uri.ssl_verify=false"
    (own / "apache.conf").write_text("\n".join([
        *(f"LoadModule {name}_module {modules}/mod_{name}.so" for name in names),
        f"ServerRoot {own}\nDefaultRuntimeDir {own}\nPidFile {own}/apache.pid\nErrorLog {own}/error.log\nServerName localhost",
        f"Listen 127.0.0.1:{port}\nDocumentRoot {own}", "User www-data\nGroup www-data" if os.geteuid() == 0 else "",
        *(f"""<Location /{version}>
  AuthType oauth2
  OAuth2TokenVerify metadata {api.metadata} {unchecked}
  <RequireAll>
    Require oauth2_claim iss:{api.issuer}
    Require oauth2_claim aud:{api.audience}
  </RequireAll>
  Header set X-Scp "%{{OAUTH2_CLAIM_scp}}e"
  Header set X-Ver "%{{OAUTH2_CLAIM_ver}}e"
</Location>""" for version, api in apis.items())]))
    for version in apis:
        (own / str(version)).write_text("An answer\n")
    process = subprocess.Popen(["/usr/sbin/apache2", "-f", own / "apache.conf", "-D", "FOREGROUND"], stdin=subprocess.DEVNULL)

    def ask(api, token):
        version = next(version for version, each in apis.items() if each is api)
        return requests.get(f"http://127.0.0.1:{port}/{version}", headers={"Authorization": f"Bearer {token}"}, timeout=30)

    def validate(api, token):
        answer = ask(api, token)
        assert answer.status_code == 200, (answer.status_code, (own / "error.log").read_text()[-1000:])
        return {"scp": answer.headers["X-Scp"], "ver": answer.headers["X-Ver"]}

    try:
        answered(process, lambda: ask(apis[1], "none"), "Apache answers")
        yield validate
    finally:
        process.terminate()
        process.wait(15)


BOTH = {
    "PyJWT": pyjwt, "python-jose": python_jose, "Authlib": authlib, "joserfc": rfc, "jwcrypto": crypto, "jose for Node": node,
    "Perl's Crypt::JWT": perl,
}
# It knows version 2 alone, as its documentation says.
VERSION_2 = {"fastapi-azure-auth": fastapi}


class Context:
    def __init__(self, tenant):
        self.tenant, self.situation = tenant, tenant.situation
        self.ids = {each["name"]: each["client_id"] for each in tenant.said["clients"]}
        self.tokens = {
            1: self.answer("api://one.example/Tasks.Read")["access_token"], 2: self.answer("api://two.example/Tasks.Read")["access_token"],
            "another API": self.answer("api://other.example/Tasks.Read")["access_token"],
        }
        graph = self.answer("openid User.Read")
        self.tokens |= {"Graph": graph["access_token"], "ID token": graph["id_token"]}
        self.apis = {1: API(tenant, 1, "api://one.example"), 2: API(tenant, 2, self.ids["Two"])}

    def answer(self, scope):
        session, asked = self.tenant.session(), {
            "client_id": self.tenant.web_id, "redirect_uri": WEB_URI, "response_type": "code", "scope": scope}
        base = f"{self.tenant.origin}/{ORGANIZATION}/oauth2/v2.0"
        code = query(sign_in(session, f"{base}/authorize?{urllib.parse.urlencode(asked)}", WEB_URI, ADELE))
        return session.post(f"{base}/token", data={
            "grant_type": "authorization_code", "code": code["code"], "redirect_uri": WEB_URI, "client_id": self.tenant.web_id,
            "client_secret": SECRET}).json()


@contextmanager
def environment(binary, root, folder):
    secret = {"secret_file": "secret"}
    with running(binary, root / "Public", folder, settings={"applications": [
        {"name": "Tasks", "native": [BUNDLE]},
        {"name": "Web", "web": [WEB_URI], "exposes": {"api://one.example": ["Tasks.Read"]}} | secret,
        {"name": "Two", "web": ["http://localhost:8081/"], "exposes": {"api://two.example": ["Tasks.Read"]}, "access_token_version": 2} | secret,
        {"name": "Other", "web": ["http://localhost:8082/"], "exposes": {"api://other.example": ["Tasks.Read"]}, "access_token_version": 2} | secret,
    ]}) as tenant:
        yield Context(tenant)


def changed(token):
    head, body, signature = token.split(".")
    return f"{head}.{body}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"


def refuses(validate, api, token):
    try:
        validate(api, token)
    except Exception:
        return True
    return False


def expect_whole(context, name, validate, version):
    api = context.apis[version]
    claims = validate(api, context.tokens[version])
    assert claims["scp"] == "Tasks.Read" and claims["ver"] == f"{version}.0", (name, claims)
    wrong = {kind: token for kind, token in context.tokens.items() if kind != version} | {"changed": changed(context.tokens[version])}
    for kind, token in wrong.items():
        assert refuses(validate, api, token), f"{name}, set up for version {version}, accepts {kind}"


@test("each validator accepts the access token of its version, and no other token")
def whole(context):
    for name, validate in BOTH.items():
        for version in (1, 2):
            expect_whole(context, name, validate, version)
    for name, validate in VERSION_2.items():
        expect_whole(context, name, validate, 2)
    print(f"      {len(BOTH)} for both versions, {len(VERSION_2)} for version 2")


@test("mod_oauth2 in Apache accepts the access token of its version, and no other token")
def mod_oauth2(context):
    with apache(context.tenant.folder, context.apis) as validate:
        for version in (1, 2):
            expect_whole(context, "mod_oauth2", validate, version)
