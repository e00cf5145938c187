"""Libraries for Graph on MSAL for Python: O365 and Office365-REST-Python-Client, with the tenant's hosts for Microsoft's."""

import contextlib
import functools
import io
import logging
import os
import re
from contextlib import contextmanager

import jwt
import msal
import O365
from O365.connection import MSGraphProtocol
from O365.utils.token import MemoryTokenBackend
from office365 import azure_env
from office365.graph_client import GraphClient
from office365.runtime.client_request_exception import ClientRequestException
from requests.exceptions import HTTPError
from suite.registry import registry

from .tenant import ADELE, SECRET, WEB_URI, Tenant, approve, browsing, sign_in

tests, test = registry("graph libraries")

DOMAIN = "contoso.example"
# O365 logs each refusal that a test provokes.
logging.getLogger("O365").setLevel(logging.CRITICAL)


@contextmanager
def environment(binary, root, folder):
    tenant, usual, begun = Tenant(binary, root / "Public", folder), dict(os.environ), msal.ClientApplication.__init__
    endpoints = dict(azure_env._ENDPOINTS)

    @functools.wraps(begun)
    def begin(*arguments, **more):
        # Else it asks Microsoft about a host that it does not know, and neither library hands this setting on.
        begun(*arguments, **more | {"instance_discovery": False})

    try:
        tenant.start()
        os.environ |= {"REQUESTS_CA_BUNDLE": tenant.root, "SSL_CERT_FILE": tenant.root}
        msal.ClientApplication.__init__ = begin
        azure_env._ENDPOINTS[azure_env.AzureEnvironment.Global] = {"graph": tenant.origin, "login": tenant.origin}
        yield tenant
    finally:
        msal.ClientApplication.__init__ = begun
        azure_env._ENDPOINTS.update(endpoints)
        os.environ.clear()
        os.environ.update(usual)
        tenant.stop()


def account(tenant, **more):
    """An account of O365 that differs from the usual one in its hosts alone."""
    class Protocol(MSGraphProtocol):
        _protocol_url = tenant.origin + "/"

    made = O365.Account((tenant.web_id, SECRET), protocol=Protocol(timezone="UTC"), token_backend=MemoryTokenBackend(), tenant_id=DOMAIN, **more)
    made.con._msal_authority = f"{tenant.origin}/{DOMAIN}"
    return made


def authenticated(tenant, *scopes):
    """An account of a person, and the permissions of the token that it has."""
    tenant.reset()
    made = account(tenant)
    with contextlib.redirect_stdout(io.StringIO()):
        assert made.authenticate(
            requested_scopes=list(scopes), redirect_uri=WEB_URI, handle_consent=lambda address: sign_in(tenant.session(), address, WEB_URI))
    token = made.con.token_backend.get_access_token(username=made.con.username)["secret"]
    return made, set(jwt.decode(token, options={"verify_signature": False})["scp"].split())


@test("O365: a person signs in for basic and mailbox, and reads themselves and their mail; the token is renewed")
def o365(tenant):
    made, permissions = authenticated(tenant, "basic", "mailbox")
    assert {"User.Read", "Mail.Read"} <= permissions, permissions
    assert made.get_current_user_data().user_principal_name == ADELE
    messages = list(made.mailbox().get_messages(limit=5))
    assert len(messages) == 5 and messages[0].subject and "@" in messages[0].sender.address, messages
    assert len(list(made.mailbox().get_messages(limit=None, batch=5))) >= 12
    before = made.con.token_backend.get_access_token(username=ADELE)["secret"]
    made.con.token_backend.get_access_token(username=ADELE)["expires_on"] = "0"
    assert made.con.refresh_token() and made.con.token_backend.get_access_token(username=ADELE)["secret"] != before


def refused(status, call):
    try:
        raise AssertionError(call())
    except HTTPError as error:
        assert error.response.status_code == status, error


@test("O365: message_all, calendar_all and onedrive_all are granted, and what the tenant's Graph lacks is refused")
def o365_all(tenant):
    made, permissions = authenticated(tenant, "message_all", "calendar_all", "onedrive_all")
    assert {"Mail.ReadWrite", "Mail.Send", "Calendars.ReadWrite", "Files.ReadWrite.All"} <= permissions, permissions
    refused(400, made.schedule().get_default_calendar)
    refused(400, lambda: made.storage().get_default_drive(request_drive=True))


@test("O365: an application reads people and a person's mail as itself, and not what it was not granted")
def o365_application(tenant):
    made = account(tenant, auth_flow_type="credentials")
    with contextlib.redirect_stdout(io.StringIO()):
        assert made.authenticate(requested_scopes=["https://graph.microsoft.com/.default"])
    assert len(list(made.mailbox(resource=ADELE).get_messages(limit=5))) == 5
    assert any(person.user_principal_name == ADELE for person in made.directory().get_users())
    refused(403, lambda: made.con.get(f"{tenant.origin}/v1.0/groups"))


@test("O365: message_all is enough to read mail")
def o365_writer(tenant):
    made, _ = authenticated(tenant, "message_all")
    assert len(list(made.mailbox().get_messages(limit=5))) == 5


@test("Office365-REST-Python-Client: an application reads people by pages, and has no /me")
def office365(tenant):
    client = GraphClient(tenant=DOMAIN).with_client_secret(tenant.web_id, SECRET)
    names = [each.user_principal_name for each in client.users.get_all(page_size=2).execute_query()]
    assert ADELE in names and len(set(names)) == len(names) > 2, names
    assert client.users[ADELE].get().execute_query().display_name == "Adele Vance"
    assert len(client.users[ADELE].messages.get().top(5).execute_query()) == 5
    try:
        raise AssertionError(client.me.get().execute_query())
    except ClientRequestException as error:
        assert error.response.status_code == 400 and error.code == "BadRequest", error


@test("Office365-REST-Python-Client: a person in the system's browser, and with a device code")
def office365_person(tenant):
    tenant.reset()
    with browsing(tenant.session()):
        client = GraphClient(tenant=DOMAIN).with_token_interactive(tenant.native_id)
        me = client.me.get().execute_query()
    assert me.user_principal_name == ADELE and me.display_name == "Adele Vance", me
    groups = client.me.member_of.get().execute_query()
    assert len(groups) > 0

    class Screen(io.StringIO):
        """The person reads the address and the code, and enters it."""

        def write(self, text):
            if found := re.search(r"the page (\S+) in a web browser and enter the code (\w+)", text):
                approve(tenant.session(), *found.groups())
            return super().write(text)

    with contextlib.redirect_stdout(Screen()):
        client = GraphClient(tenant=DOMAIN).with_device_flow(tenant.native_id)
        assert client.me.get().execute_query().user_principal_name == ADELE
