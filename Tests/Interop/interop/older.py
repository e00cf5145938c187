"""Clients of the addresses without v2.0, and of user flows in the query: ADAL for Python, and python-social-auth's backends."""

import urllib.parse
import warnings
from contextlib import contextmanager

import adal
from social_core.backends.azuread import AzureADOAuth2
from social_core.backends.azuread_b2c import AzureADB2COAuth2
from social_core.backends.azuread_tenant import AzureADTenantOAuth2, AzureADV2TenantOAuth2
from social_core.backends.microsoft import MicrosoftOAuth2
from social_core.strategy import BaseStrategy
from suite.registry import registry

from .tenant import ADELE, SECRET, WEB_URI, query, running, sign_in

tests, test = registry("older")
GRAPH = "https://graph.microsoft.com"
ORGANIZATION = "5c7d0b28-bdf8-410c-aa93-4df372b16203"
BIANCA = "b2cuser@fabrikamb2c.example"
warnings.filterwarnings("ignore", module="adal")


@contextmanager
def environment(binary, root, folder):
    with running(binary, root / "Public", folder) as tenant:
        yield tenant


def me(tenant, token):
    return tenant.session().get(f"{tenant.origin}/v1.0/me", headers={"Authorization": f"Bearer {token}"}).json()


@test("ADAL signs in with a code, renews, and has a token of its own")
def old_library(tenant):
    authority = f"{tenant.origin}/contoso.example"
    # The host is none of those that it knows.
    context = adal.AuthenticationContext(authority, validate_authority=False, verify_ssl=tenant.root)
    asked = {"response_type": "code", "client_id": tenant.web_id, "redirect_uri": WEB_URI, "resource": GRAPH, "state": "s"}
    code = query(sign_in(tenant.session(), f"{authority}/oauth2/authorize?{urllib.parse.urlencode(asked)}", WEB_URI, ADELE))["code"]
    tokens = context.acquire_token_with_authorization_code(code, WEB_URI, GRAPH, tenant.web_id, SECRET)
    assert tokens["userId"] == ADELE and tokens["resource"] == GRAPH, tokens
    assert me(tenant, tokens["accessToken"])["userPrincipalName"] == ADELE
    renewed = context.acquire_token_with_refresh_token(tokens["refreshToken"], tenant.web_id, GRAPH, SECRET)
    assert me(tenant, renewed["accessToken"])["userPrincipalName"] == ADELE
    # One context takes the person's tokens from its cache for the application's.
    context = adal.AuthenticationContext(authority, validate_authority=False, verify_ssl=tenant.root)
    own = context.acquire_token_with_client_credentials(GRAPH, tenant.web_id, SECRET)
    users = tenant.session().get(f"{tenant.origin}/v1.0/users", headers={"Authorization": f"Bearer {own['accessToken']}"})
    assert users.status_code == 200, users.text


class Storage:
    """Takes each state once, and keeps nothing."""

    class nonce:
        @staticmethod
        def use(*_):
            return True

        consume = use


class Strategy(BaseStrategy):
    """A web application, as far as the backends ask it."""

    def __init__(self, settings, data):
        super().__init__(storage=Storage)
        self.settings, self.data, self.session = settings, data, {}

    def get_setting(self, name):
        return self.settings[name]

    def get_request_data(self, merge=True):
        return self.data

    def build_absolute_uri(self, path=None):
        return path

    def session_get(self, name, default=None):
        return self.session.get(name, default)

    def session_set(self, name, value):
        self.session[name] = value

    def session_pop(self, name):
        return self.session.pop(name, None)

    def authenticate(self, *arguments, response, **_):
        return response


def social(tenant, backend, username, **more):
    name = f"SOCIAL_AUTH_{backend.name.upper().replace('-', '_')}_"
    settings = {"KEY": tenant.web_id, "SECRET": SECRET, "VERIFY_SSL": tenant.root, "AUTHORITY_HOST": tenant.origin.removeprefix("https://")}
    data = {}
    strategy = Strategy({name + key: value for key, value in (settings | more).items()}, data)
    begun = backend(strategy, redirect_uri=WEB_URI)
    data.update(query(sign_in(tenant.session(), begun.auth_url(), WEB_URI, username)))
    backend = type(begun)(strategy, redirect_uri=WEB_URI)
    return backend, backend.auth_complete()


BACKENDS = [
    (AzureADOAuth2, ADELE, {"RESOURCE": GRAPH}, "upn", ADELE),
    (AzureADTenantOAuth2, ADELE, {"TENANT_ID": ORGANIZATION, "RESOURCE": GRAPH}, "upn", ADELE),
    (AzureADV2TenantOAuth2, ADELE, {"TENANT_ID": ORGANIZATION}, "preferred_username", ADELE),
    (AzureADB2COAuth2, BIANCA, {"TENANT_NAME": "fabrikamb2c", "POLICY": "b2c_1_susi"}, "emails", [BIANCA]),
]


def microsoft(tenant):
    """The backend for Microsoft Graph, whose hosts no setting changes."""
    class Here(MicrosoftOAuth2):
        AUTHORIZATION_URL = MicrosoftOAuth2.AUTHORIZATION_URL.replace("https://login.microsoftonline.com", tenant.origin)
        ACCESS_TOKEN_URL = MicrosoftOAuth2.ACCESS_TOKEN_URL.replace("https://login.microsoftonline.com", tenant.origin)

        def get_json(self, url, *arguments, **more):
            return super().get_json(url.replace(GRAPH, tenant.origin), *arguments, **more)

    return Here


@test("python-social-auth's five backends sign in: two of version 1, two of version 2, and B2C's with the user flow in the query")
def backends(tenant):
    for backend, username, more, claim, value in [*BACKENDS, (microsoft(tenant), ADELE, {}, "userPrincipalName", ADELE)]:
        made, response = social(tenant, backend, username, **more)
        assert response[claim] == value, (made.name, response)
        assert made.get_user_id(made.get_user_details(response), response), made.name
