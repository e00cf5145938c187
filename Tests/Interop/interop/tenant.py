"""`companion tenant` over https, with applications of this suite and a root that only this suite trusts."""

import html
import json
import os
import re
import subprocess
import threading
import urllib.parse
import webbrowser
from contextlib import contextmanager

import requests
from patience import next_line

BUNDLE = "com.contoso.tasks"
NATIVE_URI = f"msauth.{BUNDLE}://auth"
WEB_URI = "http://localhost:8080/auth/callback"
SECRET = "o8Q~the.secret-of_the~suite"
ADELE = "adele@contoso.example"
# Of the application Web itself, at Graph.
ROLES = ["Mail.Read", "User.Read.All"]
NEW_NAME = "Another name"


class Tenant:
    """The tenant and what it says when it starts. Its applications: Tasks (native), Web (a secret)."""

    def __init__(self, binary, public, folder, web=(WEB_URI,), more=None, settings=None, others=()):
        # more: further settings of Web; settings: of the tenant; others: further applications, which find SECRET in the file "secret".
        self.binary, self.public, self.folder, self.web, self.more = binary, public, folder, web, more or {}
        self.settings, self.others = settings or {}, others
        self.log = folder / "tenant.log"
        self.process = None

    def start(self):
        (self.folder / "secret").write_text(SECRET)
        (self.folder / "secret").chmod(0o600)
        (self.folder / "tenant.json").write_text(json.dumps({"applications": [
            {"name": "Tasks", "native": [BUNDLE, "http://localhost"]},
            {"name": "Web", "web": list(self.web), "secret_file": "secret", "granted": {"https://graph.microsoft.com": ROLES}} | self.more,
            *self.others,
        ]} | self.settings))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COMPANION")}
        environment |= {"COMPANION_PUBLIC": str(self.public), "XDG_DATA_HOME": str(self.folder / "data")}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.binary, "tenant", "--config", self.folder / "tenant.json", "--listen", "localhost:0", "--json", "--exit-with-parent"],
                env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        said = next_line(self.process, "the tenant announces itself")
        assert said.startswith("{"), f"{said}\n{self.situation()}"
        self.said = json.loads(said)
        self.origin, self.root = self.said["base_url"], self.said["root_file"]
        # The same server by its address: MSAL takes no host without a dot for an external tenant.
        self.numeric = self.origin.replace("localhost", "127.0.0.1")
        self.ids = {each["name"]: each["client_id"] for each in self.said["clients"]}
        self.native_id, self.web_id = self.ids.get("Tasks"), self.ids.get("Web")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(15)

    def situation(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-10:]) if self.log.exists() else ""

    def session(self):
        """A client that trusts the root, and nothing else of this machine."""
        session = requests.Session()
        session.verify, session.trust_env = self.root, False
        return session

    def control(self, **settings):
        answer = self.session().post(self.said["control"], json=settings)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def reset(self):
        """No failures, and nobody has signed in, consented or changed anything."""
        self.control(reset="seed")


@contextmanager
def running(*arguments, **more):
    """A tenant that is stopped in the end, even if it did not start."""
    tenant = Tenant(*arguments, **more)
    try:
        tenant.start()
        yield tenant
    finally:
        tenant.stop()


def sign_in(session, url, ends, username=ADELE, consent="accept", on_page=lambda page: None, more=()):
    """Opens an address as a browser does and answers the tenant's plain forms; returns the address that leaves it, which begins with `ends`.

    more: further fields and their values. With these the last page may be one of the tenant's, whose text is returned.
    """
    page = session.get(url, allow_redirects=False)
    for _ in range(20):
        if page.is_redirect:
            location = urllib.parse.urljoin(page.url, page.headers["Location"])
            if location.startswith(ends):
                return location
            page = session.get(location, allow_redirects=False)
            continue
        on_page(page)
        form = re.search(r'<form method="post" action="([^"]*)"(.*?)</form>', page.text, re.DOTALL)
        if not form and more:
            return page.text
        assert form, f"{page.url} {page.status_code}: {re.sub('<[^>]+>', ' ', page.text)[:400]}"
        fields = {name: html.unescape(value) for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form[2])}
        if form[1].startswith(ends):
            # The answer in the form of response_mode=form_post.
            session.post(form[1], data=fields)
            return form[1]
        for name, value in (*more, ("password", "demo"), ("consent", consent), ("second_factor", "approve"), ("display_name", NEW_NAME), ("username", username)):
            if f'name="{name}"' in page.text:
                fields[name] = value
                break
        page = session.post(urllib.parse.urljoin(page.url, form[1]), data=fields, allow_redirects=False)
    raise AssertionError("the sign-in goes round in circles")


def approve(session, address, code, username=ADELE, confirm="continue"):
    """Enters a device's code in a browser, and answers the pages; returns the last one's text."""
    return sign_in(session, address, "nowhere:", username, more=(("user_code", code), ("confirm", confirm)))


@contextmanager
def browsing(session, username=ADELE):
    """The system's browser, which a library opens and which ends at the library's own port of localhost."""
    said = []

    def browse(address):
        try:
            back = sign_in(session, address, "http://localhost:", username)
            if "?" in back:
                session.get(back)
        except Exception as error:
            said.append(error)

    def browser(address, *_, **__):
        threading.Thread(target=browse, args=(address,), daemon=True).start()
        return True

    usual, webbrowser.open = webbrowser.open, browser
    try:
        yield
    finally:
        webbrowser.open = usual
    assert not said, said


def query(url):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query, keep_blank_values=True))
