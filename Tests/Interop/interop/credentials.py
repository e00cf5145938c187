"""Credentials of azure-identity and MSAL for Python that `web.py` and `msal_python.py` do not have.

Certificates, assertions, on-behalf-of, passwords, and those of environment variables.
"""

import asyncio
import base64
import datetime
import json
import os
import pathlib
import re
import threading
import time
import uuid
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt
import msal
import requests
from azure import identity
from azure.core.exceptions import ClientAuthenticationError
from azure.core.pipeline.transport import AsyncioRequestsTransport, RequestsTransport
from azure.identity import (
    AzurePipelinesCredential,
    CertificateCredential,
    ClientAssertionCredential,
    DefaultAzureCredential,
    EnvironmentCredential,
    InteractiveBrowserCredential,
    OnBehalfOfCredential,
    UsernamePasswordCredential,
    WorkloadIdentityCredential,
    aio,
)
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import pkcs12
from requests.adapters import HTTPAdapter
from suite.registry import registry

from .tenant import ADELE, BUNDLE, ROLES, SECRET, WEB_URI, browsing, query, running, sign_in

tests, test = registry("credentials")

GRAPH = "https://graph.microsoft.com"
DOMAIN = "contoso.example"
API = "api://middle.example/Tasks.Read"
MIDDLE_URI = "http://localhost:8081/callback"


class Certificate:
    """A certificate of an application, which it has signed itself, and its key."""

    def __init__(self, folder, name, days=2):
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        now, subject = datetime.datetime.now(datetime.UTC), x509.Name.from_rfc4514_string(f"CN={name}")
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(self.key.public_key())
        end = now + datetime.timedelta(days)
        self.certificate = builder.serial_number(x509.random_serial_number()).not_valid_before(
            end - datetime.timedelta(3)).not_valid_after(end).sign(self.key, hashes.SHA256())
        self.pem = self.certificate.public_bytes(serialization.Encoding.PEM)
        self.public, self.whole = folder / f"{name}.pem", folder / f"{name}-with-key.pem"
        self.public.write_bytes(self.pem)
        self.whole.write_bytes(self.private(serialization.NoEncryption()) + self.pem)

    def private(self, encryption):
        return self.key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)

    @property
    def thumbprint(self):
        return self.certificate.fingerprint(hashes.SHA1()).hex()

    def assertion(self, client_id, audience, seconds=300, algorithm="PS256", without=(), issuer=None, named="x5t#S256", start=0, key=None):
        """The proof that an application signs by itself (Microsoft's certificate-credentials.md).

        named: how its header names the certificate. start: when it begins, in seconds from now. key: another one that signs.
        """
        now, digest, issuer = int(time.time()) + start, self.certificate.fingerprint(hashes.SHA256()), issuer or client_id
        claims = {"aud": audience, "iss": issuer, "sub": issuer, "jti": str(uuid.uuid4()), "nbf": now, "exp": now + seconds}
        names = {"x5t#S256": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(), "kid": self.thumbprint}
        return jwt.encode(
            {name: value for name, value in claims.items() if name not in without},
            b"a secret of 32 bytes and some more" if algorithm == "HS256" else key or self.key, algorithm=algorithm,
            headers={named: names[named]} if named else None)


class Context:
    def __init__(self, tenant, certificate, ended):
        self.tenant, self.situation, self.certificate, self.ended = tenant, tenant.situation, certificate, ended
        self.off = {"disable_instance_discovery": True}
        self.usual = {"authority": tenant.origin} | self.off
        self.named = {"AZURE_AUTHORITY_HOST": tenant.origin, "AZURE_TENANT_ID": DOMAIN}
        self.ids = {each["name"]: each["client_id"] for each in tenant.said["clients"]}
        self.certified = self.ids["Certified"]
        self.audience = f"{tenant.origin}/{DOMAIN}/oauth2/v2.0/token"

    def application(self, client_id, credential):
        """One of MSAL's."""
        return msal.ConfidentialClientApplication(
            client_id, client_credential=credential, authority=f"{self.tenant.origin}/{DOMAIN}", instance_discovery=False,
            http_client=self.tenant.session())

    def expect_refused(self, client_id, credential, number, said):
        """Expects that an application gets no token of its own, with what is said."""
        result = self.application(client_id, credential).acquire_token_for_client([f"{GRAPH}/.default"])
        assert result.get("error") == "invalid_client" and result["error_codes"] == [number], result
        assert result["error_description"].startswith(f"AADSTS{number}: ") and said in result["error_description"], result

    def own(self, credential, client_id):
        """Expects the application's own token for Graph, and returns its claims."""
        return self.check_own(credential.get_token(f"{GRAPH}/.default").token, client_id)

    def check_own(self, token, client_id):
        """Expects an application's own token for Graph, with its roles, and returns its claims."""
        claims = jwt.decode(token, options={"verify_signature": False})
        assert claims["appid"] == client_id and sorted(claims["roles"]) == ROLES and claims["idtyp"] == "app", claims
        return claims

    def expect_proof(self, credential):
        """Expects the application's own token, for which it has proved itself by an assertion."""
        assert self.own(credential, self.certified)["appidacr"] == "2"

    def code(self, client_id, scope, redirect_uri):
        """The code of a person who signs in at an application."""
        session, asked = self.tenant.session(), {"client_id": client_id, "redirect_uri": redirect_uri, "response_type": "code", "scope": scope}
        address = f"{self.tenant.origin}/{DOMAIN}/oauth2/v2.0/authorize"
        return query(sign_in(session, session.get(address, params=asked, allow_redirects=False).url, redirect_uri))["code"]

    def person(self, client_id, scope, redirect_uri):
        """An access token of a person who signs in at an application with its secret."""
        return self.tenant.session().post(self.audience, data={
            "grant_type": "authorization_code", "code": self.code(client_id, scope, redirect_uri), "client_id": client_id, "client_secret": SECRET,
            "redirect_uri": redirect_uri,
        }).json()["access_token"]

    def me(self, token):
        answer = self.tenant.session().get(self.tenant.said["graph"], headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200, answer.text
        return answer.json()["userPrincipalName"]


@contextmanager
def environment(binary, root, folder):
    certificate, ended, usual = Certificate(folder, "certified"), Certificate(folder, "ended", days=-1), dict(os.environ)
    roles = {"granted": {GRAPH: ROLES}}
    applications = [
        {"name": "Tasks", "native": [BUNDLE, "http://localhost"]},
        {"name": "Web", "web": [WEB_URI], "secret_file": "secret"} | roles,
        {"name": "Certified", "web": ["http://localhost:8082/callback"], "certificate_file": "certified.pem"} | roles,
        {"name": "Ended", "web": ["http://localhost:8083/callback"], "certificate_file": "ended.pem"},
        {"name": "Middle", "web": [MIDDLE_URI], "secret_file": "secret", "exposes": {"api://middle.example": ["Tasks.Read"]}},
    ]
    try:
        with running(binary, root / "Public", folder, settings={"applications": applications, "password_grant": True}) as tenant:
            os.environ |= {"REQUESTS_CA_BUNDLE": tenant.root, "SSL_CERT_FILE": tenant.root}
            yield Context(tenant, certificate, ended)
    finally:
        os.environ.clear()
        os.environ.update(usual)


def refused(credential, scope, number):
    try:
        raise AssertionError(f"{credential.get_token(scope)} instead of AADSTS{number}")
    except ClientAuthenticationError as error:
        assert f"AADSTS{number}:" in str(error), error


@test("azure-identity: a certificate in a file, with a password in memory, and with its chain in the header")
def certificate(context):
    own, sealed = context.certificate, serialization.BestAvailableEncryption(b"a password")
    context.expect_proof(CertificateCredential(DOMAIN, context.certified, str(own.whole), **context.usual))
    context.expect_proof(CertificateCredential(
        DOMAIN, context.certified, certificate_data=own.private(sealed) + own.pem, password="a password", **context.usual))
    context.expect_proof(CertificateCredential(DOMAIN, context.certified, str(own.whole), send_certificate_chain=True, **context.usual))
    other = Certificate(context.tenant.folder, "other")
    refused(CertificateCredential(DOMAIN, context.certified, str(other.whole), **context.usual), f"{GRAPH}/.default", 700027)


@test("azure-identity: an assertion that the application signs itself, made anew for each request")
def client_assertion(context):
    made = []

    def assertion():
        made.append(context.certificate.assertion(context.certified, context.audience))
        return made[-1]

    for count in (1, 2):
        credential = ClientAssertionCredential(DOMAIN, context.certified, assertion, **context.usual)
        context.expect_proof(credential)
        context.expect_proof(credential)
        assert len(made) == count, made


@test("azure-identity: an assertion that has expired")
def expired_assertion(context):
    late = ClientAssertionCredential(
        DOMAIN, context.certified, lambda: context.certificate.assertion(context.certified, context.audience, seconds=-1000), **context.usual)
    refused(late, f"{GRAPH}/.default", 700024)


def taken(credential, scope=f"{GRAPH}/.default"):
    """The token of an asynchronous credential, which is made where it runs."""
    async def token():
        async with credential() as made:
            return (await made.get_token(scope)).token
    return asyncio.run(token())


@test("azure-identity's asynchronous credentials: a secret, a certificate and an assertion, and a certificate that nobody has registered")
def asynchronous(context):
    def usual():
        return context.usual | {"transport": AsyncioRequestsTransport()}

    own, web, other = context.certificate, context.ids["Web"], Certificate(context.tenant.folder, "unregistered")
    for credential, client_id in (
        (lambda: aio.ClientSecretCredential(DOMAIN, web, SECRET, **usual()), web),
        (lambda: aio.CertificateCredential(DOMAIN, context.certified, str(own.whole), **usual()), context.certified),
        (lambda: aio.ClientAssertionCredential(
            DOMAIN, context.certified, lambda: own.assertion(context.certified, context.audience), **usual()), context.certified),
    ):
        context.check_own(taken(credential), client_id)
    try:
        raise AssertionError(taken(lambda: aio.CertificateCredential(DOMAIN, context.certified, str(other.whole), **usual())))
    except ClientAuthenticationError as error:
        assert "AADSTS700027:" in str(error), error


@test("azure-identity's asynchronous credentials for a person: a code, and on behalf of them")
def asynchronous_people(context):
    context.tenant.reset()
    middle, scope = context.ids["Middle"], f"{GRAPH}/User.Read"
    code, token = context.code(middle, scope, MIDDLE_URI), context.person(context.ids["Web"], API, WEB_URI)
    for credential in (
        lambda: aio.AuthorizationCodeCredential(DOMAIN, middle, code, MIDDLE_URI, client_secret=SECRET, **context.usual),
        lambda: aio.OnBehalfOfCredential(DOMAIN, middle, client_secret=SECRET, user_assertion=token, **context.usual),
    ):
        assert context.me(taken(credential, scope)) == ADELE


@test("azure-identity: on behalf of a person, once they have consented to the API between, with its secret and for Graph")
def on_behalf_of(context):
    context.tenant.reset()
    middle = context.ids["Middle"]

    def credential(token, **more):
        return OnBehalfOfCredential(DOMAIN, middle, client_secret=SECRET, user_assertion=token, **context.usual | more)

    token = context.person(context.ids["Web"], API, WEB_URI)
    refused(credential(token), f"{GRAPH}/User.Read", 65001)
    context.person(middle, f"{GRAPH}/User.Read", MIDDLE_URI)
    assert context.me(credential(token).get_token(f"{GRAPH}/User.Read").token) == ADELE
    refused(credential(context.person(middle, f"{GRAPH}/User.Read", MIDDLE_URI)), f"{GRAPH}/User.Read", 50013)


class Standard(HTTPAdapter):
    """Sends what is meant for the host's usual port to the tenant's: msal asks for a person's realm without the port of the authority."""

    def __init__(self, origin):
        super().__init__()
        self.origin = origin

    def send(self, request, **more):
        request.url = self.origin + request.url.removeprefix("https://localhost")
        return super().send(request, **more)


@test("MSAL for Python: on behalf of a person, once they have consented, and for itself with an assertion that it signs")
def msal_on_behalf(context):
    context.tenant.reset()
    middle, scopes = context.ids["Middle"], ["User.Read"]
    token = context.person(context.ids["Web"], API, WEB_URI)
    # It gives a refusal again for a minute, without a request.
    asked = context.application(middle, SECRET).acquire_token_on_behalf_of(token, scopes)
    assert asked["error"] == "invalid_grant" and asked["error_codes"] == [65001], asked
    context.person(middle, f"{GRAPH}/User.Read", MIDDLE_URI)
    result = context.application(middle, SECRET).acquire_token_on_behalf_of(token, scopes)
    assert context.me(result["access_token"]) == ADELE and result["id_token_claims"]["aud"] == middle, result
    assertion = {"client_assertion": lambda: context.certificate.assertion(context.certified, context.audience)}
    own = context.application(context.certified, assertion).acquire_token_for_client([f"{GRAPH}/.default"])
    assert "access_token" in own, own


@test("MSAL for Python: each fault of an assertion has its number and its sentence")
def msal_broken_assertions(context):
    own, other = context.certificate, Certificate(context.tenant.folder, "stranger")
    for fault, number, said in (
        (lambda: other.assertion(context.certified, context.audience), 700027, "The key was not found."),
        (lambda: own.assertion(context.certified, context.audience, key=other.key), 700027, "did not match the expected signature value."),
        (lambda: own.assertion(context.certified, context.audience, seconds=-1000), 700024, "is not within its valid time range."),
        (lambda: own.assertion(context.certified, context.audience, start=1000), 700024, "is not within its valid time range."),
        (lambda: own.assertion(context.certified, context.audience, named=None), 5002723, "nor keyId specified in token header."),
        (lambda: own.assertion(context.certified, context.audience, algorithm="HS256"), 5002738, "'HS256' is not a supported signature algorithm."),
        (lambda: own.assertion(context.certified, context.audience, issuer=context.ids["Web"]), 700021, "doesn't match 'client_id' parameter."),
        (lambda: own.assertion(context.certified, context.audience.replace(DOMAIN, "tailspin.example")), 700023, "does not match Realm issuer."),
    ):
        context.expect_refused(context.certified, {"client_assertion": fault}, number, said)
    ended = {"private_key": context.ended.private(serialization.NoEncryption()).decode(), "thumbprint": context.ended.thumbprint}
    context.expect_refused(context.ids["Ended"], ended, 700027, "The key used is expired.")


@test("MSAL for Python: a certificate by its thumbprint, by itself, with its chain, and in PKCS#12")
def msal_certificate(context):
    own = context.certificate
    key = own.private(serialization.NoEncryption()).decode()
    bag = context.tenant.folder / "certified.pfx"
    bag.write_bytes(pkcs12.serialize_key_and_certificates(b"own", own.key, own.certificate, None, serialization.BestAvailableEncryption(b"a password")))
    for credential in (
        {"private_key": key, "thumbprint": own.thumbprint},
        {"private_key": key, "public_certificate": own.pem.decode()},
        {"private_key": key, "thumbprint": own.thumbprint, "public_certificate": own.pem.decode()},
        {"private_key_pfx_path": str(bag), "passphrase": "a password"},
    ):
        result = context.application(context.certified, credential).acquire_token_for_client([f"{GRAPH}/.default"])
        assert "access_token" in result, (list(credential), result)


@test("azure-identity: a name and a password, where the tenant takes them: after the consent, with the right password")
def password(context):
    context.tenant.reset()
    session = requests.Session()
    session.mount("https://localhost/", Standard(context.tenant.origin))
    native, scope = context.ids["Tasks"], f"{GRAPH}/User.Read"

    def credential(word):
        return UsernamePasswordCredential(native, ADELE, word, tenant_id=DOMAIN, transport=RequestsTransport(session=session), **context.usual)

    refused(credential("demo"), scope, 65001)
    with browsing(context.tenant.session()):
        InteractiveBrowserCredential(tenant_id=DOMAIN, client_id=native, timeout=30, **context.usual).get_token(scope)
    assert context.me(credential("demo").get_token(scope).token) == ADELE
    refused(credential("wrong"), scope, 50126)


@contextmanager
def variables(**named):
    """The variables AZURE_…, and no others of that kind."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("AZURE_")}
    os.environ.update(named)
    try:
        yield
    finally:
        for name in named:
            del os.environ[name]
        os.environ.update(kept)


@test("azure-identity: the environment's credential and the default one, with a secret, also asynchronously")
def environments(context):
    with variables(**context.named, AZURE_CLIENT_ID=context.ids["Web"], AZURE_CLIENT_SECRET=SECRET):
        for credential in (EnvironmentCredential, DefaultAzureCredential):
            context.own(credential(**context.off), context.ids["Web"])
        for credential in (aio.EnvironmentCredential, aio.DefaultAzureCredential):
            context.check_own(taken(lambda made=credential: made(**context.off)), context.ids["Web"])


@test("azure-identity: the environment's credential with a certificate")
def environment_certificate(context):
    with variables(**context.named, AZURE_CLIENT_ID=context.certified, AZURE_CLIENT_CERTIFICATE_PATH=str(context.certificate.whole)):
        context.expect_proof(EnvironmentCredential(**context.off))


@test("azure-identity: the token file of a workload, which is read anew, and the default credential with it; also asynchronously")
def workload(context):
    token = context.tenant.folder / "token"
    with variables(**context.named, AZURE_CLIENT_ID=context.certified, AZURE_FEDERATED_TOKEN_FILE=str(token)):
        for credential in (WorkloadIdentityCredential, DefaultAzureCredential):
            token.write_text(context.certificate.assertion(context.certified, context.audience))
            context.expect_proof(credential(**context.off))
        token.write_text(context.certificate.assertion(context.certified, context.audience))
        context.check_own(taken(lambda: aio.WorkloadIdentityCredential(**context.off)), context.certified)


class Job(BaseHTTPRequestHandler):
    """Azure Pipelines, which gives an assertion to a job of its own."""

    def do_POST(self):
        known = self.headers["Authorization"] == "Bearer the job's" and "serviceConnectionId=connection" in self.path
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"oidcToken": self.server.assertion()}).encode())

    def log_message(self, *_):
        pass


@test("azure-identity: the assertion that Azure Pipelines gives to a job, also asynchronously")
def pipelines(context):
    job = {"tenant_id": DOMAIN, "client_id": context.certified, "service_connection_id": "connection", "system_access_token": "the job's"}
    with ThreadingHTTPServer(("127.0.0.1", 0), Job) as server:
        server.assertion = lambda: context.certificate.assertion(context.certified, context.audience)
        threading.Thread(target=server.serve_forever).start()
        os.environ["SYSTEM_OIDCREQUESTURI"] = f"http://127.0.0.1:{server.server_port}/token"
        try:
            context.expect_proof(AzurePipelinesCredential(**job, **context.usual))
            # This one gives one transport to requests of both kinds, and so needs the usual ones.
            context.check_own(taken(lambda: aio.AzurePipelinesCredential(**job, **context.usual)), context.certified)
        finally:
            del os.environ["SYSTEM_OIDCREQUESTURI"]
            server.shutdown()


@test("azure-identity: the guide names each of its credentials, and this suite uses those that it names first")
def named(_):
    guide = (pathlib.Path(__file__).parents[3] / "CONTRIBUTING.md").read_text()
    row = next(line for line in guide.splitlines() if line.startswith("| `azure-identity` "))
    used, rest = (set(re.findall(r"`(\w+Credential)`", part)) for part in row.split("Not tried", 1))
    there = {name for name in identity.__all__ if name.endswith("Credential")}
    assert used | rest == there and not used & rest, (there - used - rest, (used | rest) - there, used & rest)
    sources = "".join(path.read_text() for path in pathlib.Path(__file__).parent.glob("*.py"))
    wanted = used | {f"aio.{name}" for name in used & set(aio.__all__)}
    assert wanted <= set(re.findall(r"(?:\baio\.)?\b\w+Credential\b", sources)), wanted
