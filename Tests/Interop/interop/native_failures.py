"""Failures at `companion tenant` as MSAL treats them: its one more try, and its answers from memory."""

from suite.registry import registry

from .msal_objc import Application
from .msal_objc_requests import Refused
from .native import KINDS, Change, application, environment, expect, without
from .tenant import ADELE, BUNDLE, NATIVE_URI

__all__ = ["environment", "tests"]

tests, test = registry("failures at MSAL")

UNAVAILABLE = {"status": 503, "body": {"error": "temporarily_unavailable"}}


def signed_in(tenant, kind="AAD", clock=None):
    app = application(tenant, kind)
    app.throttling.now = clock or app.throttling.now
    return app, app.acquire_token([KINDS[kind][1]], KINDS[kind][2])[0]


# The settings at /control, what the silent request says, its code, how often MSAL tried again.
FAILURES = [
    ({"token_error": UNAVAILABLE | {"times": 1}}, None, None, 1),
    ({"token_error": UNAVAILABLE | {"times": 2}}, "HTTP 503", -42007, 1),
    ({"token_error": {"status": 429, "times": 1}}, "HTTP 429", -42007, 0),
    ({"token_error": {"status": 403, "times": 1}}, "HTTP 403", -42007, 0),
    ({"token_error": {"status": 200, "body": "<p>A proxy was here.</p>", "times": 1}}, "the answer is no JSON", None, 0),
    ({"lost_token_answer": True}, None, None, 1),
    ({"rules": [{"lost_token_answer": True, "times": 2}]}, "HTTP 504", -42007, 1),
    ({"close_connection": "token"}, None, None, 1),
    ({"rules": [{"close_connection": "token", "times": 2}]}, "The network connection was lost.", -1005, 1),
    ({"token_platform_error": 50076}, "AADSTS50076", -50002, 0),
    ({"token_platform_error": 70011}, "AADSTS70011", None, 0),
    ({"token_platform_error": 53005}, "AADSTS53005", -50004, 0),
    ({"token_platform_error": 90033}, None, None, 1),
]


@test("a failure that happens once is seen by the app only if MSAL does not ask again")
def once(tenant):
    tenant.reset()
    for settings, says, code, retries in FAILURES:
        app, account = signed_in(tenant)
        tenant.control(**settings)
        if says:
            expect(says, code, lambda app=app, account=account: app.acquire_token_silent(account, ["User.Read"]))
        else:
            app.acquire_token_silent(account, ["User.Read"])
        assert (app.requests.retries, app.requests.waited) == (retries, retries * 0.5), (settings, app.requests.retries)
        tenant.control(reset=True)


# The settings, the seconds in which the same silent request is answered from memory, whether a sign-in ends that.
THROTTLED = [
    ({"token_platform_error": 50076}, 120, True),
    ({"token_platform_error": 70011}, 120, True),
    ({"token_error": UNAVAILABLE | {"times": 2}}, 60, False),
    ({"token_error": {"status": 429, "headers": {"Retry-After": "7"}, "times": 1}}, 7, False),
    ({"token_error": {"status": 429, "headers": {"Retry-After": "100000"}, "times": 1}}, 3600, False),
    ({"token_error": {"status": 403, "times": 1}}, 0, False),
    ({"rules": [{"close_connection": "token", "times": 2}]}, 0, False),
]


@test("what MSAL throttles is answered from memory, also after the tenant is reset, until its time is over")
def throttling(tenant):
    tenant.reset()
    for settings, seconds, ends in THROTTLED:
        time = [0.0]
        app, account = signed_in(tenant, clock=lambda time=time: time[0])
        time[0] = 1000.0
        tenant.control(**settings)
        first = refusal(app, account)
        tenant.control(reset=True)
        if seconds:
            time[0] = 1000 + seconds - 1
            assert refusal(app, account) is first, settings
            # Other claims are another request, but not to a server that asked for a pause.
            other = refusal(app, account, '{"access_token":{"a":null}}')
            assert other is (None if ends else first), settings
            if ends:
                app.acquire_token(["User.Read"], ADELE)
                assert refusal(app, account) is None, settings
        time[0] = 1000 + seconds
        assert refusal(app, account) is None, settings


def refusal(app, account, claims=None):
    try:
        app.acquire_token_silent(account, ["User.Read"], claims)
    except Refused as error:
        return error
    return None


@test("an answer with an ID token alone is enough for MSAL")
def no_access_token(tenant):
    session = tenant.session()
    session.mount("https://", Change("/oauth2/v2.0/token", without("access_token")))
    account, token = application(tenant, "AAD", session).acquire_token(["User.Read"], ADELE)
    assert account.username == ADELE and token is None, token


@test("a B2C authority without tfp is taken as it is, and asked by silent requests too")
def without_tfp(tenant):
    authority = tenant.said["b2c_authority"].replace("/tfp/", "/")
    app = application(tenant, "B2C", authority=authority)
    account, _ = app.acquire_token([KINDS["B2C"][1]], KINDS["B2C"][2])
    app.acquire_token_silent(account, [KINDS["B2C"][1]])
    assert list(app.metadata) == [authority + "/v2.0/.well-known/openid-configuration"], list(app.metadata)


@test("silent requests of an account ask its tenant at common, and the named one elsewhere")
def silent_authorities(tenant):
    origin, scope = tenant.origin, ["User.Read"]
    app, account = signed_in(tenant)
    for path, asked in (("common", account.home_tenant), ("organizations", account.home_tenant), ("contoso.example", account.home_tenant)):
        app = Application(tenant.session(), "AAD", f"{origin}/{path}", tenant.native_id, NATIVE_URI, BUNDLE)
        account, _ = app.acquire_token(scope, ADELE)
        app.acquire_token_silent(account, scope)
        assert [url.split("/")[3] for url in app.metadata] == [path, asked], list(app.metadata)
    account.authorities = {}
    app = Application(tenant.session(), "AAD", f"{origin}/common", tenant.native_id, NATIVE_URI, BUNDLE)
    app.acquire_token_silent(account, scope)
    assert app.metadata.keys() == {f"{origin}/{account.home_tenant}/v2.0/.well-known/openid-configuration"}, list(app.metadata)


# The parameters of MSAL's PoP scheme and of nested authentication, and the number with which each is refused.
REFUSED = [({"token_type": "pop", "req_cnf": "e30"}, 90023), ({"req_cnf": "e30"}, 901002), ({"brk_client_id": ADELE}, 901002), ({"brk_redirect_uri": "a"}, 901002)]


@test("proof of possession and nested authentication are refused with a number, not answered as something else")
def not_here(tenant):
    for parameters, number in REFUSED:
        app, account = signed_in(tenant)
        usual = app.requests.send

        def with_more(method, url, correlation_id, usual=usual, parameters=parameters, **more):
            return usual(method, url, correlation_id, **more | {"data": more.get("data", {}) | parameters})

        app.requests.send = with_more
        expect(f"AADSTS{number}", -50002, lambda app=app, account=account: app.acquire_token_silent(account, ["User.Read"]))
        tenant.control(reset=True)
