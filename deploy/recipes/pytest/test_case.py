"""A case from the portal (Attempts, *Open as a case*), replayed: the same step fails with the same number.

Save a case beside this file as case.json. Replace `sign_in` with your application's, and keep the assertion."""

import json
import pathlib
import urllib.parse

import pytest
from conftest import WEB_URI, follow_forms

CASE = json.loads((pathlib.Path(__file__).parent / "case.json").read_text())
# The failures that can be replayed: at which endpoint of the tenant, and the platform's number.
REPLAYS = {
    "sign_in_needed": ("authorize", 50058), "account_choice": ("authorize", 16000), "cancelled": ("authorize", 65004),
    "admin_consent": ("authorize", 90094), "not_assigned": ("authorize", 50105), "blocked": ("authorize", 53003),
    "wrong_secret": ("token", 7000215), "expired_secret": ("token", 7000222), "code_redeemed": ("token", 54005), "code_expired": ("token", 70008),
}


def sign_in(tenant, case):
    """Signs in as the case did. Returns the step that failed, and what came."""
    given = {"prompt": case["settings"]["prompt"]} if case["settings"]["prompt"] != "if_necessary" else {}
    address = tenant.authority + "/oauth2/v2.0/authorize?" + urllib.parse.urlencode({
        "client_id": tenant.clients["Web"], "response_type": "code", "redirect_uri": WEB_URI, "scope": "openid User.Read", **given})
    returned = follow_forms(address, WEB_URI, username="adele@contoso.example")
    if "code" not in returned:
        return "callback", returned["error_description"]
    answer = tenant.token("Web", grant_type="authorization_code", code=returned["code"], redirect_uri=WEB_URI)
    return "token", answer.json().get("error_description", "")


@pytest.mark.parametrize("kind", [CASE["replay"]["kind"], *REPLAYS])
def test_the_same_step_fails_with_the_same_number(tenant, kind):
    endpoint, number = REPLAYS[kind]
    tenant.fail(client="Web", times=1, **{f"{endpoint}_platform_error": number})
    step, text = sign_in(tenant, CASE)
    assert step == {"authorize": "callback", "token": "token"}[endpoint]
    assert f"AADSTS{number}:" in text, text
    # The next one is well.
    assert sign_in(tenant, CASE) == ("token", "")
