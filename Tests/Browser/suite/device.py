"""The demo tenant's pages for a device: a code, the question who asks, the usual sign-in, the end."""

import json
import urllib.error
import urllib.parse
import urllib.request

from selenium.webdriver.common.keys import Keys

from .registry import registry

tests, test = registry("device", time="One more sign-in, and five languages. The code that is approved and the one that is refused decide, and LanguageOfPagesTests.")

CLIENT = "66855f8a-60cd-445e-a9bb-8cd8eadbd3fa"  # Microsoft's sample MSALiOS
GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def post(browser, endpoint, **fields):
    """Sends what the device sends; returns the answer, also an error's."""
    request = urllib.request.Request(
        f"{browser.server.tenant}/common/oauth2/v2.0/{endpoint}", data=urllib.parse.urlencode(fields | {"client_id": CLIENT}).encode())
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


def begin(browser):
    """A device's codes, and the page that its message names."""
    codes = post(browser, "devicecode", scope="openid profile User.Read")
    browser.driver.get(codes["verification_uri"] + "?ui_locales=en")
    browser.one("#user_code")
    return codes


def poll(browser, codes):
    return post(browser, "token", grant_type=GRANT, device_code=codes["device_code"])


def enter(browser, code):
    browser.one("#user_code").send_keys(code, Keys.ENTER)


def expect_heading(browser, text):
    browser.wait(f"the heading {text!r}", lambda: browser.one("h1").text == text)


@test("a wrong code is asked for again; the right one leads by keyboard through question, picker, password and consent to the end, and the device to its tokens")
def approved(browser):
    codes = begin(browser)
    browser.expect_at_tenant_accessible("device code")
    assert browser.driver.switch_to.active_element == browser.one("#user_code")
    enter(browser, "WRONGCODE")
    notice = browser.one("#notice")
    assert "70018" in notice.text and browser.one("#user_code").get_attribute("aria-describedby") == "notice", notice.text
    browser.expect_at_tenant_accessible("device wrong code")
    assert poll(browser, codes)["error"] == "authorization_pending"
    code = codes["user_code"].lower()
    enter(browser, f"{code[:3]} {code[3:6]}-{code[6:]}")
    expect_heading(browser, "Are you trying to sign in to MSALiOS?")
    assert codes["user_code"] not in browser.driver.current_url
    browser.expect_at_tenant_accessible("device question")
    browser.tab_to("button[value=continue]")
    browser.keys(Keys.ENTER)
    browser.sign_in_by_keyboard()
    expect_heading(browser, "You’re signed in")
    assert "You can close this page." in browser.one("main").text
    browser.expect_at_tenant_accessible("device done")
    tokens = poll(browser, codes)
    assert "access_token" in tokens, tokens
    browser.driver.back()
    expect_heading(browser, "You’re signed in")
    assert not browser.all("form")
    assert "access_token" not in poll(browser, codes)


@test("a person who cancels is not signed in, and the device gets that answer; the code is used up")
def declined(browser):
    codes = begin(browser)
    enter(browser, codes["user_code"])
    browser.press("Cancel")
    expect_heading(browser, "Sign-in cancelled")
    assert "You are not signed in to MSALiOS." in browser.one("main").text
    browser.expect_at_tenant_accessible("device declined")
    assert poll(browser, codes)["error"] == "authorization_declined"
    browser.driver.get(codes["verification_uri"])
    enter(browser, codes["user_code"])
    assert "90120" in browser.one("#notice").text


@test("a person who is signed in still chooses the account, and types no password", needs="time")
def single_sign_on(browser):
    browser.sign_in()
    codes = begin(browser)
    enter(browser, codes["user_code"])
    browser.press("Continue")
    browser.choose_account()
    browser.answer_consent()
    expect_heading(browser, "You’re signed in")
    assert "access_token" in poll(browser, codes)


@test("the pages are in each language, and fit a phone in it", needs="time")
def languages(browser):
    for tag in ("sv", "ja", "pt-PT", "pt-BR", "zh-Hans"):
        codes = begin(browser)
        browser.driver.get(f"{codes['verification_uri']}?ui_locales={tag}")
        assert browser.one("h1").text != "Enter code"
        browser.shoot(f"device code {tag}")
        enter(browser, codes["user_code"])
        browser.one("button[value=continue]")
        assert browser.driver.execute_script("return document.documentElement.lang") == tag
        browser.expect_at_tenant_accessible(f"device question {tag}")
        browser.one("button[value=cancel]").click()
        browser.wait("the end", lambda: not browser.all("form"))
        browser.shoot(f"device declined {tag}")
