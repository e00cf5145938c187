"""The page that shows the apps' requests as they happen: by itself, beside a pasted log, by keyboard, without script."""

import urllib.error
import urllib.request

from .registry import registry

tests, test = registry("clients")

CLIENT = "00001111-aaaa-2222-bbbb-3333cccc4444"
CORRELATION = "5E1D9F0A-6F0B-4C83-9A0E-1A2B3C4D5E6F"
LOG = f"""TID=259 (main thread) MSAL 2.13.0 iOS Sim 26.0 [2026-11-23 10:00:00 - {CORRELATION}] Beginning interactive flow
with a second line
TID=260 MSAL 2.13.0 iOS Sim 26.0 [2026-11-23 10:00:01] No correlation here
TID=260 MSAL 2.13.0 iOS Sim 26.0 [2026-11-23 10:00:01 - 11111111-2222-3333-4444-555555555555] Another <b>sign-in</b>
TID=261 MSAL 2.13.0 iOS Sim 26.0 [2026-11-23 10:00:02 - {CORRELATION}] Received <script>alert(1)</script>"""


def ask(server, path, correlation=CORRELATION):
    """One request as MSAL sends it."""
    request = urllib.request.Request(server.tenant + path, headers={
        "client-request-id": correlation, "x-client-SKU": "MSAL.iOS", "x-client-Ver": "2.13.0"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        error.read()


def show(browser):
    browser.driver.get(browser.server.tenant + "/clients?ui_locales=en")
    browser.one("#log-panel > summary").click()
    browser.one("#log")


def rows(browser):
    return browser.driver.execute_script("return [...document.querySelectorAll('#live tr[data-correlation]')].map((row) => row.textContent)")


def write_log(browser, text):
    browser.driver.execute_script(
        "const e = document.getElementById('log'); e.value = arguments[0]; e.dispatchEvent(new InputEvent('input', { bubbles: true }))", text)


@test("a request appears by itself with its error, which the companion explains; a pause holds the list, and the focus stays")
def appears(browser):
    ask(browser.server, "/common/discovery/v2.0/keys")
    show(browser)
    before = len(rows(browser))
    unnamed = browser.one("#unnamed")
    assert not unnamed.get_attribute("open") and "Requests: " in unnamed.text, unnamed.text
    unnamed.find_element("css selector", "summary").click()
    browser.driver.execute_script("document.querySelector('#unnamed td a').focus()")
    focused = browser.driver.execute_script("return document.activeElement.id")
    assert focused.startswith("step-of-"), focused
    assert browser.driver.execute_script("return getComputedStyle(document.querySelector('section:target')).backgroundColor") == "rgba(0, 0, 0, 0)", "a stripe at the text's edge"
    ask(browser.server, f"/common/oauth2/v2.0/authorize?client_id={CLIENT}&scope=User.Read")
    browser.wait("the new request is there", lambda: len(rows(browser)) > before)
    row = rows(browser)[0]
    assert "Authorization" in row and "AADSTS700016" in row and "User.Read" in row and "client_id" in row, row
    assert browser.driver.execute_script("return document.activeElement.id") == focused, "the focus is lost"
    browser.press("Pause")
    count = len(rows(browser))
    ask(browser.server, "/common/discovery/v2.0/keys")
    browser.driver.execute_async_script("setTimeout(arguments[0], 2500)")
    assert len(rows(browser)) == count, "the list goes on in the pause"
    browser.press("Continue")
    browser.wait("the list goes on", lambda: len(rows(browser)) > count)
    browser.one("#live td a[href*='/paste#']").click()
    browser.wait("the companion explains the number", lambda: "AADSTS700016" in browser.one("#found h2.mono").text)


@test("a pause holds the list, too, when the answer that would change it is under way")
def pause_under_way(browser):
    def held(count):
        browser.wait(f"{count} answers held", lambda: browser.driver.execute_script("return window.held") == count)
    show(browser)
    browser.press("Pause")
    before = rows(browser)
    ask(browser.server, "/common/discovery/v2.0/keys")
    let_go = browser.hold("/control")
    browser.press("Continue")
    held(1)
    browser.press("Pause")
    let_go()
    # The page asks again when it is done with the answer before. That passes both holds, of which the first is let go.
    let_go = browser.hold("/control")
    browser.press("Continue")
    held(3)
    assert rows(browser) == before, "the answer changes the list in the pause"
    let_go()
    browser.wait("the list goes on", lambda: len(rows(browser)) > len(before))


@test("a pasted log's lines stand below the request with their correlation ID, as text, also after the next request, and go nowhere")
def log(browser):
    ask(browser.server, "/common/v2.0/.well-known/openid-configuration")
    show(browser)
    write_log(browser, LOG)
    said = lambda: browser.driver.execute_script("return [...document.querySelectorAll('#live tr.log')].map((row) => [row.previousElementSibling.dataset.correlation, row.querySelector('pre').textContent])")
    expected = [[CORRELATION.lower(), "\n".join(line for index, line in enumerate(LOG.split("\n")) if index in (0, 1, 4))]]
    assert said() == expected, said()
    assert "3 of 5" in browser.one("#joined").text
    browser.shoot("clients with a log")
    before = len(rows(browser))
    browser.drain()
    ask(browser.server, "/common/discovery/v2.0/keys")
    browser.wait("the new request is there", lambda: len(rows(browser)) > before)
    assert said() == expected, "the lines are lost with the next request"
    sent = [entry["message"] for entry in browser.driver.get_log("performance")]
    assert not any("Beginning" in message or "postData" in message for message in sent), "the log goes out"
    write_log(browser, "")
    assert said() == [] and browser.all("#joined")[0].text == ""


@test("the newest twenty requests of an app are shown and, with a button, twenty more each time, without a shift; the list goes on, and a log's line shows its request")
def older(browser):
    client = "00001111-aaaa-2222-bbbb-44445555dddd"
    path = f"/common/oauth2/v2.0/authorize?client_id={client}"
    first, others = CORRELATION.replace("5E", "77"), CORRELATION.replace("5E", "88")
    rows = f"[...document.getElementById('older-{client}').parentElement.querySelectorAll('tr[data-correlation]')]"
    shown = lambda: browser.driver.execute_script(f"return {rows}.filter((row) => row.checkVisibility()).length")
    focused = lambda: browser.driver.execute_script("return document.activeElement.id")
    ask(browser.server, path, first)
    for _ in range(44):
        ask(browser.server, path, others)
    for width in (390, 1440):
        browser.size(width, 900)
        show(browser)
        assert shown() == 20
        browser.driver.execute_script(f"const e = document.getElementById('older-{client}'); e.scrollIntoView({{ block: 'center' }}); e.focus()")
        before = browser.driver.execute_script(f"return {rows}[19].getBoundingClientRect().top")
        browser.keys(" ")
        assert shown() == 40
        assert browser.driver.execute_script(f"return {rows}[19].getBoundingClientRect().top") == before, "what was read moves"
        browser.expect_accessible("older requests")
        count = browser.one("#count").text
        ask(browser.server, path, others)
        browser.wait("the new request is counted", lambda count=count: browser.one("#count").text != count)
        assert shown() == 40 and focused() == f"older-{client}"
        browser.keys(" ")
        assert shown() > 40 and not browser.all(f"[id='older-{client}']")[0].is_displayed()
        assert focused().startswith("step-of-"), "the focus is lost"
    show(browser)
    write_log(browser, f"TID=259 MSAL 2.13.0 iOS [2026-11-23 10:00:00 - {first}] Beginning")
    assert shown() > 40 and "1 of 1" in browser.one("#joined").text
    write_log(browser, "")
    assert shown() == 20


@test("without script the page shows the requests when it is loaded, and nothing that needs a script; axe finds nothing; it fits a phone")
def without_script(browser):
    ask(browser.server, f"/common/oauth2/v2.0/authorize?client_id={CLIENT}&scope=User.Read+openid+profile&state=a&redirect_uri=b")
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.driver.get(browser.server.tenant + "/clients?ui_locales=en")
        assert browser.all("#live tr[data-correlation]")
        assert not any(each.is_displayed() for each in browser.all("#pause, #log-panel"))
    finally:
        browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
    show(browser)
    browser.expect_accessible("clients")
    browser.size(390, 844)
    tops = browser.driver.execute_script("""
        return ["td:first-child", ".status", "td:nth-child(5)"].map((each) => document.querySelector(`#live tr[data-correlation] ${each}`).getBoundingClientRect().top);
    """)
    assert len(set(tops)) == 1, f"the time, the status and the milliseconds are at {tops}"
    for tag in ("sv", "ja", "pt-PT", "pt-BR", "zh-Hans"):
        browser.driver.get(f"{browser.server.tenant}/clients?ui_locales={tag}")
        browser.one("#log-panel")
        browser.shoot(f"clients {tag}")
