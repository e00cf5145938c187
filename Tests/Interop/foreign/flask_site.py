"""The pages of providers that are libraries and leave them to the application: a sign-in, and a consent."""

from html import escape
from urllib.parse import urlencode

import flask
from registered import given

SIGN_IN = """<title>Sign in</title><h1>Sign in</h1><form method="post">{hidden}<p>{failure}
<p><input name="username"><p><input type="password" name="password"><p><button name="go" value="on">Sign in</button></form>"""
CONSENT = """<title>Consent</title><h1>Companion wants to know who you are</h1><form method="post">{hidden}
<button name="consent" value="deny">Deny</button><button name="consent" value="allow">Allow</button></form>"""


def application():
    made = flask.Flask("provider")
    made.secret_key = given.client_secret
    return made


def page(text, failure="", **hidden):
    fields = "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in hidden.items())
    return text.format(hidden=fields, failure=failure)


def refusal(address, error, state):
    """A redirect that brings an error instead of a code."""
    return flask.redirect(f"{address}?{urlencode({'error': error, 'state': state})}", 303)


def claims():
    """The one person, as OpenID Connect's standard claims."""
    return {"name": given.name, "preferred_username": given.username, "email": given.email}


def signed_in():
    """The person's name: of the session, or of the form that was sent. None until then."""
    form = flask.request.form
    if (form.get("username"), form.get("password")) == (given.username, given.password):
        flask.session["user"] = given.username
    return flask.session.get("user")


def serve(made):
    made.run("127.0.0.1", given.port, threaded=True)
