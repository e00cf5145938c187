"""A provider's own pages: reads their forms and fills them in as a person does."""

import urllib.parse
from dataclasses import dataclass, field
from html.parser import HTMLParser

# A button with one of these words is not the one that goes on.
REFUSALS = ("deny", "decline", "cancel", "reject")
NAMES = ("text", "email", "")


@dataclass
class Form:
    action: str
    method: str
    # Type, name and value of each field and button, in order.
    fields: list = field(default_factory=list)

    @property
    def asks_for_password(self):
        return any(kind == "password" for kind, _, _ in self.fields)

    @property
    def refuses(self):
        """Whether all that it can do is to refuse, which some pages have as a form of its own."""
        return all(is_refusal(*each) for each in self.buttons) or ("hidden", "_method", "delete") in self.fields

    @property
    def buttons(self):
        return [each for each in self.fields if each[0] == "submit"]


def is_refusal(_, name, value):
    return any(word in f"{name} {value}".lower() for word in REFUSALS)


class Forms(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.form, self.button = [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        if tag == "form":
            self.form = Form(has.get("action") or "", (has.get("method") or "get").lower())
            self.found.append(self.form)
        elif self.form and tag == "input":
            kind = has.get("type", "text").lower()
            if kind not in ("checkbox", "radio") or "checked" in has:
                self.form.fields.append((kind, has.get("name") or "", has.get("value") or ""))
        elif self.form and tag == "button" and has.get("type", "submit") == "submit":
            self.form.fields.append(("submit", has.get("name") or "", has.get("value") or ""))
            self.button = len(self.form.fields) - 1

    def handle_data(self, data):
        # A button without a value says in its text what it does.
        if self.button is not None and data.strip():
            kind, name, value = self.form.fields[self.button]
            if not name:
                self.form.fields[self.button] = (kind, name, value or data.strip())

    def handle_endtag(self, tag):
        if tag == "form":
            self.form = None
        elif tag == "button":
            self.button = None


def answer(session, page, person):
    """Fills in and sends the page's form: the sign-in, or else the first one that does not refuse. Returns the next page."""
    forms = [form for form in Forms(page.text).found if not form.refuses]
    form = next((form for form in forms if form.asks_for_password), forms[0] if forms else None)
    assert form, f"{page.url} {page.status_code} has no form that goes on: {page.text[:600]}"
    data = {}
    for kind, name, value in form.fields:
        if kind == "password":
            data[name] = person.password
        elif kind in NAMES and form.asks_for_password and not value:
            data[name] = person.username
        elif kind not in ("submit", "button", "reset") and name:
            data[name] = value
    pressed = next((each for each in form.buttons if not is_refusal(*each)), None)
    if pressed and pressed[1]:
        data[pressed[1]] = pressed[2]
    address = urllib.parse.urljoin(page.url, form.action)
    if form.method == "get":
        return session.get(address, params=data, timeout=30)
    return session.post(address, data=data, headers={"Referer": page.url}, timeout=30)
