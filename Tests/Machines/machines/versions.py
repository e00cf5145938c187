"""Companions of two versions on one database, as during an upgrade."""
import concurrent.futures
import time

from faults.visitor import ADELE, Visitor

# Counts as expired after three seconds.
SHORT_TOKEN = 303


def beside_each_other(site, previous):
    """Whichever comes first, a person who is at both finds the same session at both."""
    old = {"binary": previous.resolve(), "public": previous.resolve().parent / "Public"}
    site.provider.control(refresh_token_single_use=True)
    try:
        for number, (earlier, later) in enumerate(((old, {}), ({}, old))):
            site.primary.make(f"mixed{number}")
            address = site.address(f"mixed{number}")
            with site.one_on(address, **earlier) as first:
                resident = Visitor(first).signed_in(username=ADELE)
                with site.one_on(address, number=4, **later) as second:
                    for node in (second, first, second):
                        assert_serves(site.at(node, resident))
                    for here, there in ((first, second), (second, first)):
                        journey(site, here, there)
                    one_refresh(site, (first, second))
                assert_serves(site.at(first, resident))
    finally:
        site.provider.control(refresh_token_single_use=False, access_token_seconds=3600, token_delay_ms=0)


def assert_serves(browser):
    account = browser.account()
    assert account and account["username"] == ADELE, account
    for answer in (browser.get("/api/ios/me"), browser.renew()):
        assert answer.status == 200, f"{browser.companion.name}: {answer.status} {answer.text[:300]}"


def journey(site, here, there):
    """Begun here, begun again there because the other version keeps it elsewhere, used at both, signed out there."""
    browser = Visitor(here)
    begun = browser.begin()
    answer = site.at(there, browser)
    refused = answer.open(browser.at_provider(begun.location, ADELE))
    assert refused.status == 400 and "state_mismatch" in refused.text, f"{refused.status} {refused.location}"
    answer.signed_in(username=ADELE)
    assert_serves(site.at(here, answer))
    assert_serves(answer)
    signed_out = answer.post("/auth/ios/sign-out", {"browser": False})
    assert signed_out.status == 200, f"{signed_out.status} {signed_out.text[:300]}"
    assert all(site.at(node, answer).account() is None for node in (here, there))


def one_refresh(site, nodes):
    """40 calls at expiry at both."""
    site.provider.control(access_token_seconds=SHORT_TOKEN)
    browser = Visitor(nodes[0]).signed_in()
    site.provider.control(access_token_seconds=3600, token_delay_ms=500)
    time.sleep(3.5)
    before = site.counts()["token_refresh"]
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        statuses = list(pool.map(lambda number: site.at(nodes[number % 2], browser).get("/api/ios/me").status, range(40)))
    site.provider.control(token_delay_ms=0)
    refreshes = site.counts()["token_refresh"] - before
    assert statuses == [200] * 40 and refreshes == 1, f"{statuses}, {refreshes} refreshes"


TESTS = [("a companion of an earlier version works beside this one's on one database, whichever started first", beside_each_other)]
