"""Examples. Replace the calls of `tenant` with your application's, and keep the failures."""

import base64
import http.server
import json
import threading
import urllib.parse

import pytest
from conftest import follow_forms
from selenium import webdriver
from selenium.webdriver.common.by import By

CONTOSO = "contoso.example"


def claims(token):
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def test_an_application_gets_a_token_of_its_own(tenant):
    answer = tenant.token("Web", f"{tenant.base_url}/{CONTOSO}", grant_type="client_credentials",
                          scope="https://graph.microsoft.com/.default")
    assert answer.status_code == 200, answer.text
    assert claims(answer.json()["access_token"])["appid"] == tenant.clients["Web"]
    assert "refresh_token" not in answer.json()
    # No person is signed in, so Graph has no /me.
    assert tenant.me(answer.json()["access_token"]).status_code == 400


def test_a_person_signs_in_and_graph_knows_them(tenant):
    tokens = tenant.sign_in().json()
    assert tenant.me(tokens["access_token"]).json()["userPrincipalName"] == "adele@contoso.example"


def test_a_world_of_its_own(tenant):
    tenant.register("applications", name="Shop", web=["http://localhost:3000/callback"])
    tenant.register("users", username="ada@contoso.example", password="demo", display_name="Ada Lovelace")
    tokens = tenant.sign_in("Shop", "ada@contoso.example", "http://localhost:3000/callback").json()
    assert tenant.me(tokens["access_token"]).json()["displayName"] == "Ada Lovelace"


def test_a_device_signs_in_by_a_code(tenant):
    begun = tenant.device_code("Desktop", scope="openid User.Read")
    poll = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": begun["device_code"]}
    assert tenant.token("Desktop", **poll).json()["error"] == "authorization_pending"
    page = follow_forms(begun["verification_uri"], "none", user_code=begun["user_code"], username="adele@contoso.example")
    assert "You have signed in to" in page
    assert tenant.me(tenant.token("Desktop", **poll).json()["access_token"]).status_code == 200


def test_every_test_begins_as_new(tenant):
    assert tenant.control()["rules"] == []
    assert tenant.control()["counts"]["token_requests"] == 0


def test_a_failure_meets_one_application_alone(tenant):
    web, desktop = tenant.sign_in("Web").json(), tenant.sign_in("Desktop", redirect_uri="http://localhost").json()
    tenant.fail(client="Web", times=2, token_error={"status": 503, "headers": {"Retry-After": "1"}})
    for expected in (503, 503, 200):
        assert tenant.token("Web", grant_type="refresh_token", refresh_token=web["refresh_token"]).status_code == expected
        answer = tenant.token("Desktop", grant_type="refresh_token", refresh_token=desktop["refresh_token"])
        assert answer.status_code == 200


def test_a_failure_meets_one_person_alone(tenant):
    adele, megan = tenant.sign_in().json(), tenant.sign_in(user="megan@contoso.example").json()
    tenant.fail(user="megan@contoso.example", graph_error={"status": 429, "headers": {"Retry-After": "1"}})
    assert tenant.me(adele["access_token"]).status_code == 200
    assert tenant.me(megan["access_token"]).status_code == 429


def test_an_expired_token_is_renewed_without_waiting(tenant):
    tokens = tenant.sign_in().json()
    tenant.control(expire_tokens=True)
    assert tenant.me(tokens["access_token"]).status_code == 401
    renewed = tenant.token("Web", grant_type="refresh_token", refresh_token=tokens["refresh_token"]).json()
    assert tenant.me(renewed["access_token"]).status_code == 200


class Callback(http.server.BaseHTTPRequestHandler):
    """The redirect URI of an application on this machine. It remembers the parameters."""

    def do_GET(self):
        parts = urllib.parse.urlsplit(self.path)
        if parts.path == "/":
            self.server.returned = dict(urllib.parse.parse_qsl(parts.query))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>Signed in</title><p id=done>You can close this page.")

    def log_message(self, *_):
        pass


@pytest.fixture
def application():
    with http.server.HTTPServer(("127.0.0.1", 0), Callback) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def chromium():
    options = webdriver.ChromeOptions()
    options.accept_insecure_certs = True  # The root is for requests; a browser's list of roots stays as it is.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--lang=en-US"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options)
    driver.implicitly_wait(10)
    yield driver
    driver.quit()


def test_a_person_signs_in_with_a_browser(tenant, application, chromium):
    # The platform ignores the port of localhost.
    redirect_uri = f"http://localhost:{application.server_port}"
    chromium.get(tenant.authority + "/oauth2/v2.0/authorize?" + urllib.parse.urlencode({
        "client_id": tenant.clients["Desktop"], "response_type": "code", "redirect_uri": redirect_uri, "scope": "openid User.Read"}))
    chromium.find_element(By.CSS_SELECTOR, "button[value='adele@contoso.example']").click()
    chromium.find_element(By.NAME, "password").send_keys("demo\n")
    chromium.find_element(By.CSS_SELECTOR, "button[name=consent][value=accept]").click()
    chromium.find_element(By.ID, "done")
    answer = tenant.token("Desktop", grant_type="authorization_code", code=application.returned["code"], redirect_uri=redirect_uri)
    assert tenant.me(answer.json()["access_token"]).status_code == 200
