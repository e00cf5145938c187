"""Glewlwyd, an OpenID provider that is not ours, on loopback with a database of its own."""

import gzip
import http.cookiejar
import json
import pathlib
import re
import shutil
import subprocess
import urllib.error
import urllib.request

from patience import SECONDS, answered

USER, PASSWORD = "alice", "alice's password"
SCOPES = ("openid", "profile", "email", "offline_access")
DOCUMENTATION = pathlib.Path("/usr/share/doc/glewlwyd/database")
WEB_PAGES = pathlib.Path("/usr/share/glewlwyd/webapp")


class Glewlwyd:
    def __init__(self, folder, port, client_id, client_secret, redirect_uri, signed_out_uri):
        self.folder, self.port = folder, port
        self.base = f"http://localhost:{port}"
        self.issuer = self.base + "/api/oidc"
        self.client_id, self.client_secret = client_id, client_secret
        self.redirect_uri, self.signed_out_uri = redirect_uri, signed_out_uri
        self.process = None

    def start(self):
        self.folder.mkdir()
        database = self.folder / "glewlwyd.sqlite"
        schema = gzip.decompress((DOCUMENTATION / "init.sqlite3.sql.gz").read_bytes())
        subprocess.run(["sqlite3", database], input=schema, check=True)
        # Debian links the pages' settings to a folder, which leaves the sign-in page dead.
        pages = self.folder / "webapp"
        shutil.copytree(WEB_PAGES, pages, ignore=shutil.ignore_patterns("config.json"))
        shutil.copy("/usr/share/glewlwyd/templates/config.json", pages / "config.json")
        settings = pathlib.Path("/etc/glewlwyd/glewlwyd.conf").read_text()
        for name, value in {
            "port": str(self.port), "external_url": f'"{self.base}"', "log_file": f'"{self.folder}/log"',
        }.items():
            settings = re.sub(rf"(?m)^{name}=.*$", f"{name}={value}", settings)
        settings = re.sub(r"(?m)^# *static_files_path=.*$", f'static_files_path="{pages}/"', settings)
        settings = re.sub(r"(?m)^@include.*$", f'database = {{ type = "sqlite3"; path = "{database}"; }};', settings)
        settings += '\nbind_address="127.0.0.1"\n'
        file = self.folder / "glewlwyd.conf"
        file.write_text(settings)
        with open(self.folder / "out", "wb") as out:
            self.process = subprocess.Popen(["glewlwyd", f"--config-file={file}"], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.wait("/config")
        self.provision()
        self.wait("/api/oidc/.well-known/openid-configuration")

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(10)

    def wait(self, path):
        answered(self.process, lambda: urllib.request.urlopen(self.base + path, timeout=SECONDS).close(), f"Glewlwyd answers at {path}",
                 (self.folder / "out").read_text)

    def provision(self):
        """Through the administrator's API: scopes, the OpenID plugin, a person, the companion as a client."""
        jar = http.cookiejar.CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        # `localhost` has no dot, so the jar would not send the cookie: it goes by hand.
        cookie = None

        def call(method, path, body=None, accepted=(200,)):
            headers = {"Content-Type": "application/json"} | ({"Cookie": cookie} if cookie else {})
            data = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(self.base + "/api" + path, data=data, method=method, headers=headers)
            try:
                with opener.open(request, timeout=20) as answer:
                    status, content, fields = answer.status, answer.read(), answer.headers
            except urllib.error.HTTPError as error:
                status, content, fields = error.code, error.read(), error.headers
            if status not in accepted:
                raise RuntimeError(f"glewlwyd: {method} {path}: {status} {content[:400]!r}")
            return status, content, fields

        cookie = call("POST", "/auth/", {"username": "admin", "password": "password"})[2]["Set-Cookie"].partition(";")[0]

        def put(kind, key, body):
            exists = call("GET", f"/{kind}/{key}", accepted=(200, 404))[0] == 200
            call("PUT" if exists else "POST", f"/{kind}/{key}" if exists else f"/{kind}/", body)

        for name in SCOPES:
            put("scope", name, {"name": name, "display_name": name, "description": name, "password_required": True, "password_max_age": 0, "scheme": {}})
        key = subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], check=True, capture_output=True, text=True).stdout
        public = subprocess.run(["openssl", "pkey", "-pubout"], input=key, check=True, capture_output=True, text=True).stdout
        call("POST", "/mod/plugin/", {"module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "enabled": True, "parameters": {
            "iss": self.issuer, "jwt-type": "rsa", "jwt-key-size": "256", "key": key, "cert": public, "jwks-show": True,
            "code-duration": 600, "refresh-token-duration": 1209600, "access-token-duration": 3600, "allow-non-oidc": True,
            "auth-type-code-enabled": True, "auth-type-refresh-enabled": True, "auth-type-token-enabled": False, "auth-type-implicit-enabled": False,
            "auth-type-password-enabled": False, "auth-type-client-enabled": False, "auth-type-device-enabled": False,
            # Each refresh token is good for one use; using one twice ends the whole chain.
            "refresh-token-rolling": True, "refresh-token-one-use": "always", "auth-type-code-revoke-replayed": True,
            "pkce-allowed": True, "pkce-method-plain-allowed": False, "subject-type": "public",
            "introspection-revocation-allowed": True, "introspection-revocation-allow-target-client": True,
            "session-management-allowed": True, "session-cookie-name": "GLEWLWYD_OIDC_SID", "session-cookie-expiration": 2419200,
            "front-channel-logout-allowed": True, "back-channel-logout-allowed": True, "request-parameter-allow": False,
            "name-claim": "mandatory", "name-claim-scope": ["profile"], "email-claim": "mandatory", "email-claim-scope": ["email"], "scope-claim": "no",
        }})
        put("user", USER, {"username": USER, "name": "Alice Example", "email": "alice@example.test", "password": PASSWORD, "enabled": True, "scope": ["g_profile", *SCOPES]})
        clients = json.loads(call("GET", "/mod/client/database")[1])
        formats = clients["parameters"].setdefault("data-format", {})
        formats["post_logout_redirect_uris"] = {"multiple": True, "read": True, "write": True}
        call("PUT", "/mod/client/database", clients)
        call("PUT", "/mod/client/database/reset")
        put("client", self.client_id, {
            "client_id": self.client_id, "name": "Companion", "enabled": True, "confidential": True, "client_secret": self.client_secret, "scope": [],
            "authorization_type": ["code", "refresh_token"], "redirect_uri": [self.redirect_uri], "post_logout_redirect_uris": [self.signed_out_uri],
            "token_endpoint_auth_method": ["client_secret_post", "client_secret_basic"],
        })
