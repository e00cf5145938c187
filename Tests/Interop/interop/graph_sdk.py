"""Microsoft's Graph SDK for Python at the tenant's Graph, with the credentials of azure-identity, and with its own paging and retries."""

import asyncio
import os
import ssl
from contextlib import contextmanager

import httpx
from azure.identity import ClientSecretCredential, DeviceCodeCredential
from kiota_abstractions.base_request_configuration import RequestConfiguration
from kiota_authentication_azure.azure_identity_authentication_provider import AzureIdentityAuthenticationProvider
from msgraph import GraphRequestAdapter, GraphServiceClient
from msgraph.graph_request_adapter import options
from msgraph.generated.models.group import Group
from msgraph.generated.models.o_data_errors.o_data_error import ODataError
from msgraph.generated.users.item.messages.messages_request_builder import MessagesRequestBuilder
from msgraph.generated.users.users_request_builder import UsersRequestBuilder
from msgraph_core import GraphClientFactory
from msgraph_core.tasks.page_iterator import PageIterator
from suite.registry import registry

from .tenant import ADELE, SECRET, Tenant, approve

tests, test = registry("graph sdk")

GRAPH = "https://graph.microsoft.com"


class Context:
    def __init__(self, tenant):
        self.tenant, self.situation = tenant, tenant.situation
        usual = {"authority": tenant.origin, "disable_instance_discovery": True}
        self.person = DeviceCodeCredential(
            tenant.native_id, tenant_id="contoso.example", prompt_callback=lambda address, code, _: approve(tenant.session(), address, code), **usual)
        self.application = ClientSecretCredential("contoso.example", tenant.web_id, SECRET, **usual)

    def run(self, credential, scopes, work):
        """Runs work(graph), with a client that differs from the usual one in its host alone."""
        async def run():
            client = GraphClientFactory.create_with_default_middleware(
                client=httpx.AsyncClient(verify=ssl.create_default_context(cafile=self.tenant.root)), options=options)
            provider = AzureIdentityAuthenticationProvider(credential, scopes=[f"{GRAPH}/{name}" for name in scopes], allowed_hosts=["localhost"])
            try:
                adapter = GraphRequestAdapter(provider, client)
                adapter.base_url = self.tenant.origin + "/v1.0"
                return await work(GraphServiceClient(request_adapter=adapter))
            finally:
                await client.aclose()
        return asyncio.run(run())

    def asked(self):
        """The number of requests so far."""
        return self.tenant.session().get(self.tenant.origin + "/clients").json()["count"]


@contextmanager
def environment(binary, root, folder):
    tenant = Tenant(binary, root / "Public", folder)
    usual = dict(os.environ)
    try:
        tenant.start()
        os.environ |= {"REQUESTS_CA_BUNDLE": tenant.root, "SSL_CERT_FILE": tenant.root}
        yield Context(tenant)
    finally:
        os.environ.clear()
        os.environ.update(usual)
        tenant.stop()


async def everything(graph, first, seen):
    """Follows the pages to the last one; returns what they have."""
    iterator, found = PageIterator(first, graph.request_adapter), []
    await iterator.iterate(lambda each: found.append(each) or True)
    assert len(found) > seen, found
    return found


async def refused(work, status, code):
    try:
        raise AssertionError(f"{await work} instead of {code}")
    except ODataError as error:
        assert error.response_status_code == status and error.error.code == code, (error.response_status_code, error.error)
        assert error.error.message and error.error.inner_error.request_id and error.error.inner_error.date, error.error
        return error.error


@test("me, the photo, and the groups, direct and nested, as the SDK's own types")
def me(context):
    async def work(graph):
        me = await graph.me.get()
        photo = await graph.me.photo.content.get()
        direct, all = await graph.me.member_of.get(), await graph.me.transitive_member_of.get()
        return me, photo, direct.value, all.value

    me, photo, direct, all = context.run(context.person, ["User.Read"], work)
    assert me.user_principal_name == ADELE and me.display_name == "Adele Vance" and me.id, me
    assert photo.startswith(b"\xff\xd8"), photo[:8]
    assert {each.id for each in direct} < {each.id for each in all}, (direct, all)
    groups = [each for each in all if isinstance(each, Group)]
    assert groups and all[0].odata_type.startswith("#microsoft.graph.") and all != groups, [each.odata_type for each in all]


@test("messages by pages: a few members of five at a time, until there are no more")
def messages(context):
    async def work(graph):
        query = MessagesRequestBuilder.MessagesRequestBuilderGetQueryParameters(top=5, select=["id", "subject", "receivedDateTime"])
        first = await graph.me.messages.get(request_configuration=RequestConfiguration(query_parameters=query))
        assert len(first.value) == 5 and first.odata_next_link.startswith(context.tenant.origin + "/"), first
        assert first.value[0].subject and first.value[0].received_date_time and first.value[0].body_preview is None, first.value[0]
        return await everything(graph, first, 5)

    asked = context.asked()
    found = context.run(context.person, ["User.Read", "Mail.Read"], work)
    assert len({each.id for each in found}) == len(found) >= 12, len(found)
    assert found == sorted(found, key=lambda each: each.received_date_time, reverse=True)
    assert context.asked() - asked >= len(found) / 5


@test("an application reads users by pages and one by name, has no /me, and nothing that it was not granted")
def application(context):
    async def work(graph):
        query = UsersRequestBuilder.UsersRequestBuilderGetQueryParameters(top=2, select=["id", "userPrincipalName"])
        first = await graph.users.get(request_configuration=RequestConfiguration(query_parameters=query))
        names = [each.user_principal_name for each in await everything(graph, first, 2)]
        assert ADELE in names and len(set(names)) == len(names), names
        assert (await graph.users.by_user_id(ADELE).get()).display_name == "Adele Vance"
        await refused(graph.me.get(), 400, "BadRequest")
        await refused(graph.users.by_user_id("nobody@contoso.example").get(), 404, "Request_ResourceNotFound")
        await refused(graph.applications.get(), 403, "Authorization_RequestDenied")

    context.run(context.application, [".default"], work)


@test("429 is waited for as Retry-After says, and asked again; an error that stays is the SDK's exception")
def retries(context):
    async def work(graph):
        await graph.me.get()
        asked = context.asked()
        context.tenant.control(graph_error={
            "status": 429, "headers": {"Retry-After": "1"}, "body": {"error": {"code": "TooManyRequests", "message": "Too many requests."}}, "times": 1})
        me = await graph.me.get()
        assert me.user_principal_name == ADELE and context.asked() == asked + 2, context.asked() - asked
        context.tenant.control(graph_error={"status": 400, "body": {"error": {"code": "made-up", "message": "Made up."}}, "times": 1})
        try:
            raise AssertionError(await graph.me.get())
        except ODataError as error:
            assert error.error.code == "made-up" and error.response_status_code == 400, error

    context.run(context.person, ["User.Read"], work)


@test("a claims challenge of Graph comes as 401 with the claims in base64, for which the SDK asks the credential")
def claims_challenge(context):
    async def work(graph):
        await graph.me.get()
        context.tenant.control(claims_challenge=True)
        assert (await graph.me.get()).user_principal_name == ADELE

    try:
        context.run(context.person, ["User.Read"], work)
    finally:
        context.tenant.control(claims_challenge=False)
