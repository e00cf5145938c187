"""A browser, as far as the server can tell: pages, the JSON API, and the way through the provider's forms."""
import html
import http.client
import json
import re
import urllib.parse

import patience

ADELE = "adele@contoso.example"
MEGAN = "megan@contoso.example"
# Parameters whose values are secrets of one sign-in.
SECRET_PARAMETERS = {"code", "state", "nonce", "code_challenge", "login_hint"}


class Answer:
    def __init__(self, answer):
        self.status, self.fields, self.text = answer.status, answer.headers, answer.read().decode()
        self.location = self.fields.get("Location")

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def failure(self):
        """The stable code with which a sign-in came back to its page, or None."""
        query = urllib.parse.urlsplit(self.location or "").query
        return dict(urllib.parse.parse_qsl(query)).get("sign_in_error")


class Visitor:
    def __init__(self, companion, language="en"):
        self.port, self.language, self.companion = companion.port, language, companion
        # Behind a front, the page has the front's origin, whichever server answers.
        self.origin = getattr(companion, "origin", f"http://localhost:{companion.port}")
        self.cookie_name = "__Host-companion" if self.origin.startswith("https:") else f"companion-{urllib.parse.urlsplit(self.origin).port or 80}"
        # By their names.
        self.cookies, self.provider_cookies = {}, {}
        # Method and status of every request that the companion has answered since the last `forget`.
        self.seen = []
        # No log may have these.
        self.secrets = {ADELE, "Adele"}

    @property
    def cookie(self):
        """The session's id, or None."""
        return self.cookies.get(self.cookie_name)

    @cookie.setter
    def cookie(self, value):
        self.cookies = {name: kept for name, kept in self.cookies.items() if name != self.cookie_name}
        if value:
            self.cookies[self.cookie_name] = value

    @property
    def version(self):
        """The version of its session that it has seen, where several companions share that. A browser forgets it soon."""
        return self.cookies.get(f"{self.cookie_name}-version")

    @version.setter
    def version(self, value):
        self.cookies.pop(f"{self.cookie_name}-version", None)
        if value:
            self.cookies[f"{self.cookie_name}-version"] = value

    def connection(self):
        """A new one, with TLS where the other side speaks it."""
        if tls := getattr(self.companion, "tls", None):
            return http.client.HTTPSConnection("localhost", self.port, timeout=patience.SECONDS, context=tls)
        return http.client.HTTPConnection("localhost", self.port, timeout=patience.SECONDS)

    def request(self, method, path, body=None, page=False):
        """One request to the companion: of a page's script, or the browser's own as it navigates."""
        fields = {"Accept-Language": self.language}
        if self.cookies:
            fields["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if page:
            fields |= {"Accept": "text/html", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none"}
        else:
            fields |= {"Accept": "application/json", "Sec-Fetch-Site": "same-origin", "X-Companion": "1",
                       "Origin": self.origin, "Content-Type": "application/json"}
        connection = self.connection()
        try:
            connection.request(method, path, None if body is None else json.dumps(body), fields)
            answer = Answer(connection.getresponse())
        finally:
            connection.close()
        self.seen.append((method, answer.status))
        for value in answer.fields.get_all("Set-Cookie") or []:
            self.keep(value)
        if answer.location:
            query = urllib.parse.urlsplit(answer.location).query
            self.secrets |= {value for name, value in urllib.parse.parse_qsl(query) if name in SECRET_PARAMETERS}
        return answer

    def keep(self, field):
        """A cookie that an answer sets, or takes away. Its path is not looked at: what the others get of it, they do not use."""
        name, _, value = field.partition(";")[0].partition("=")
        self.cookies.pop(name, None)
        if value and "max-age=0" not in field.lower():
            self.cookies[name] = value
            if not name.endswith(("-version", "-language")):
                self.secrets.add(value)

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, body=None):
        return self.request("POST", path, body or {})

    def open(self, path):
        return self.request("GET", path, page=True)

    def begin(self, app="ios"):
        """The button of the page: where the companion sends the browser."""
        return self.open(f"/auth/{app}/sign-in")

    def at_provider(self, location, username=ADELE):
        """From the provider's first page to the address with which it sends the browser back."""
        method, body = "GET", None
        for _ in range(12):
            if location.startswith(f"{self.origin}/"):
                query = urllib.parse.urlsplit(location).query
                self.secrets |= {value for name, value in urllib.parse.parse_qsl(query) if name in SECRET_PARAMETERS}
                return location.removeprefix(self.origin)
            url = urllib.parse.urlsplit(location)
            connection = http.client.HTTPConnection(url.netloc, timeout=patience.SECONDS)
            fields = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.provider_cookies.items())}
            if body is not None:
                fields |= {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"{url.scheme}://{url.netloc}"}
            connection.request(method, url.path + (f"?{url.query}" if url.query else ""), body, fields)
            answer = Answer(connection.getresponse())
            connection.close()
            for value in answer.fields.get_all("Set-Cookie") or []:
                name, _, value = value.partition(";")[0].partition("=")
                self.provider_cookies[name] = value
            if answer.location:
                location, method, body = urllib.parse.urljoin(location, answer.location), "GET", None
                continue
            form = next(part for part in answer.text.split("</form>") if '<form method="post"' in part)
            given = {name: html.unescape(value)
                     for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)}
            if 'name="password"' in answer.text:
                given["password"] = "demo"
            elif 'name="consent"' in answer.text:
                given["consent"] = "accept"
            else:
                given["username"] = username
            action = html.unescape(re.search(r'<form method="post" action="([^"]*)"', form)[1])
            location, method, body = urllib.parse.urljoin(location, action), "POST", urllib.parse.urlencode(given)
        raise AssertionError("the sign-in goes round in circles")

    def sign_in(self, app="ios", username=ADELE):
        """The whole way; the answer to the callback."""
        begun = self.begin(app)
        assert begun.status == 302, f"{begun.status} {begun.location} {begun.text[:300]}"
        return self.open(self.at_provider(begun.location, username))

    def signed_in(self, app="ios", username=ADELE):
        """Signs in, and nothing is to go wrong."""
        answer = self.sign_in(app, username)
        assert answer.status == 303 and answer.location == f"/{app}", f"{answer.status} {answer.location}"
        return self

    def account(self, app="ios"):
        """Who is signed in, as the page learns it."""
        return self.get(f"/api/{app}/account").json["account"]

    def renew(self, app="ios", account=None):
        """A token by force, of the current account or of another."""
        return self.post(f"/api/{app}/token", {"force_refresh": True} | ({"account": account} if account else {}))

    def sentence(self, code, app="ios"):
        """The words of the page's script about a sign-in that came back with a code."""
        page = self.open(f"/{app}").text
        version = re.search(r'<meta name="texts" content="(.*?)">', page)[1]
        language = re.search(r'<html lang="(.*?)"', page)[1]
        return self.get(f"/assets/texts/{version}/{language}/sign_in.json").json[code]

    def forget(self):
        """Begins a new list of requests; answers with the log's place."""
        self.seen = []
        return self.companion.mark()
