"""A person's steps at one companion, seen at another."""
import contextlib
import http.client
import urllib.parse

import patience


def own_changes(site):
    """Every companion has read the session a moment ago and trusts that; a browser sees what it changed all the same."""
    visitor = site.visitor().signed_in(username="adele@contoso.example")
    visitor.signed_in(username="megan@contoso.example")
    ids = {entry["username"]: entry["id"] for entry in visitor.get("/api/ios/accounts").json["accounts"]}
    assert len(ids) == 2, ids
    trusted = 0
    for turn in range(30):
        for node in site.nodes:
            site.at(node, visitor).account()
        name = list(ids)[turn % 2]
        changing = site.at(site.nodes[turn % 3], visitor)
        answer = changing.request("PUT", "/api/ios/account", {"id": ids[name]})
        assert answer.status == 200, f"{answer.status} {answer.text[:300]}"
        # A browser that has not heard of the change may see what was before.
        trusted += site.at(site.nodes[(turn + 1) % 3], visitor).account()["username"] != name
        visitor.version = changing.version
        for node in site.nodes:
            account = site.at(node, visitor).account()
            assert account["username"] == name, f"{node.name} shows {account['username']} after {name} was chosen"
    assert trusted > 0, "no companion trusted what it had read: nothing was tested"


def why_it_failed(site):
    """The callback's companion is another one than the page's."""
    visitor = site.visitor()
    begun = visitor.begin()
    state = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun.location).query))["state"]
    visitor = site.at(site.nodes[1], visitor)
    back = visitor.open(f"/auth/callback?error=access_denied&state={urllib.parse.quote(state)}")
    assert back.failure == "cancelled", back.location
    told = [site.at(node, visitor).get("/api/ios/sign-in-failure").json["failure"] for node in site.nodes]
    assert told[0] and told[0]["code"] == "cancelled" and told.count(told[0]) == 3, told
    stories = [site.at(node, visitor).get("/api/attempts").json for node in site.nodes]
    assert stories.count(stories[0]) == 3 and len(stories[0]["attempts"]) == 1, stories
    assert [step["step"] for step in stories[0]["attempts"][0]["steps"]] == ["authorize", "callback"], stories[0]


def posted_answer(site):
    """The provider has the browser post its answer to one companion; the browser fetches it from another."""
    visitor = site.visitor()
    begun = visitor.begin()
    fields = urllib.parse.urlsplit(visitor.at_provider(begun.location)).query
    with contextlib.closing(http.client.HTTPConnection("localhost", site.nodes[0].port, timeout=patience.SECONDS)) as connection:
        connection.request("POST", "/auth/callback", fields, {"Content-Type": "application/x-www-form-urlencoded"})
        posted = connection.getresponse()
        posted.read()
    resume = posted.headers["Location"]
    assert resume.startswith("/auth/callback?resume=") and "code" not in resume, resume
    answer = site.at(site.nodes[1], visitor).open(resume)
    assert answer.location == "/ios", f"{answer.status} {answer.location}"


def trips(site):
    """Three trips that a page begins by itself within a minute, wherever they begin."""
    visitor = site.visitor().signed_in()
    answers = [site.at(site.nodes[number % 3], visitor).open("/auth/ios/sign-in?automatic=1") for number in range(5)]
    failures = [answer.failure for answer in answers]
    assert failures == [None, None, None, "sign_in_loop", "sign_in_loop"], failures


TESTS = [
    ("what a browser changed at one companion, it sees at the others at once", own_changes),
    ("why a sign-in failed at one companion, the others say in the same words", why_it_failed),
    ("an answer that is posted to one companion is fetched from another", posted_answer),
    ("trips that a page makes by itself at several companions are counted together", trips),
]
