"""A person's journeys: sign in, call Graph, come back, sign out."""

import json

from selenium.webdriver.common.keys import Keys

from .browser import ADELE
from .registry import registry

tests, test = registry("journeys")

PERSONAL = "9188040d-6c67-4c5b-b112-36a304b66dad"


@test("home shows a card for each application, the device mode and that this is a demo")
def home(browser):
    browser.open("/")
    for title in ("iOS tutorial", "macOS tutorial"):
        browser.wait(f"a card {title}", lambda: any(title in card.text for card in browser.all("#cards li")))
    browser.expect_text("#mode", "Private")
    note = browser.one("#demo").text
    assert "Demo" in note and ADELE in note and "demo" in note, note


@test("the iOS page leads from home to Graph's result, through picker, password and consent")
def ios_first_call(browser):
    browser.open("/")
    browser.press("iOS tutorial")
    browser.expect_page("/ios")
    browser.expect_username("Signed out")
    browser.expect_log("Account signed out. Updating UX")
    assert not browser.one("#sign-out").is_enabled(), "Sign Out is enabled although nobody is signed in"
    assert "demo" in browser.one("#demo").text, "the page does not say that it is a demo"
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()
    browser.expect_page("/ios")
    said = browser.log()[-3:]
    assert said[0] == f"Found a signed in account {ADELE}. Updating data for that account...", said
    assert said[1].startswith("Access token is "), said
    assert browser.one("#sign-out").is_enabled(), "Sign Out is disabled although somebody is signed in"
    browser.press("Companion")
    browser.wait("the card says who is signed in", lambda: f"Signed in as {ADELE}" in browser.one("#cards").text)


@test("the second call is silent and asks the tenant for nothing while the token is fresh; a reload keeps the account, and the address nothing of the sign-in")
def ios_second_call(browser):
    browser.sign_in()
    browser.expect_page("/ios")
    before = browser.server.counts()
    browser.press("Call Microsoft Graph API")
    browser.expect_log("Refreshed Access token is ")
    browser.wait("a second result", lambda: sum(text.startswith("Result from Graph: ") for text in browser.log()) == 2)
    after = browser.server.counts()
    assert after["authorize"] == before["authorize"] and after["token_code"] == before["token_code"], (before, after)
    assert after["token_refresh"] == before["token_refresh"], "a fresh token was refreshed"
    assert after["graph_me"] == before["graph_me"] + 1, (before, after)
    browser.driver.refresh()
    browser.expect_log(f"Found a signed in account {ADELE}. Updating data for that account...")
    browser.expect_username(ADELE)


@test("an account is still signed in after the server was killed and started again")
def ios_restart(browser):
    browser.sign_in()
    # A page that is open asks on, and would say that the server is gone.
    browser.driver.get("about:blank")
    browser.server.kill()
    browser.server.start()
    browser.open("/ios")
    browser.expect_log(f"Found a signed in account {ADELE}. Updating data for that account...")
    browser.press("Call Microsoft Graph API")
    browser.expect_log("Refreshed Access token is ")
    browser.expect_graph()


@test("after Sign Out, the next call shows the account picker again, where another account can be chosen")
def ios_sign_out(browser):
    browser.sign_in()
    browser.press("Sign Out")
    browser.expect_log("Sign out completed successfully")
    browser.expect_username("Signed out")
    assert not browser.one("#sign-out").is_enabled(), "Sign Out stays enabled"
    browser.press("Call Microsoft Graph API")
    browser.one(f"button[name=username][value='{ADELE}']")
    browser.choose_account("megan@contoso.example")
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph("megan@contoso.example")


@test("what is shown of an account goes at its sign-out, in other tabs and on the page that Back restores")
def ios_nothing_stays(browser):
    def shown():
        return [text for text in browser.log() if "displayName" in text or text.startswith(("Access token is", "Refreshed Access token is", "Found a signed in account"))]
    browser.sign_in()
    left = browser.driver.current_window_handle
    browser.wait("three messages of the account", lambda: len(shown()) == 3)
    browser.open("/native")
    tabs = []
    for _ in range(2):
        browser.driver.switch_to.new_window("tab")
        tabs.append(browser.driver.current_window_handle)
        browser.open("/ios")
        browser.press("Call Microsoft Graph API")
        browser.expect_graph()
        assert shown()
    browser.press("Sign Out")
    browser.expect_log("Sign out completed successfully")
    assert not shown(), shown()
    browser.driver.switch_to.window(tabs[0])
    browser.expect_username("Signed out")
    browser.wait("an empty log", lambda: not shown())
    browser.driver.switch_to.window(left)
    browser.driver.back()
    browser.expect_username("Signed out")
    browser.wait("an empty log", lambda: not shown())
    browser.wait("the log in sight", lambda: browser.driver.execute_script("return getComputedStyle(document.getElementById('log')).visibility") == "visible")


@test("a personal account signs in, of the tenant of personal accounts")
def ios_personal(browser):
    browser.sign_in(username="alex@outlook.example")
    result = json.loads(browser.expect_log("Result from Graph: ").removeprefix("Result from Graph: "))
    assert result["userPrincipalName"] == "alex@outlook.example", result
    browser.expect_username("alex@outlook.example")
    browser.press("Claims of the ID token")
    browser.wait("the tenant of personal accounts", lambda: f"tid {PERSONAL}" in browser.one("#claims-box").text)
    assert "preferred_username alex@outlook.example" in browser.one("#claims-box").text


@test("the macOS page has the whole journey, and no button for device info")
def macos(browser):
    browser.open("/")
    browser.press("macOS tutorial")
    browser.expect_page("/macos")
    browser.expect_username("Signed out")
    assert not browser.all("#device-info"), "the macOS app has no device-info button"
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()
    browser.press("Call Microsoft Graph API")
    browser.expect_log("Refreshed Access token is ")
    browser.press("Sign Out")
    browser.expect_log("Sign out completed successfully")
    browser.expect_username("Signed out")


@test("the keyboard alone leads from home to the result and to Sign Out, with the focus in sight")
def keyboard(browser):
    browser.open("/")
    browser.one("#cards a[href='/ios']")
    browser.tab_to("a[href='/ios']")
    browser.keys(Keys.ENTER)
    browser.expect_page("/ios")
    browser.expect_log("Account signed out. Updating UX")
    browser.tab_to("#call-graph")
    browser.keys(Keys.ENTER)
    browser.sign_in_by_keyboard()
    browser.expect_graph()
    browser.tab_to("#sign-out")
    browser.keys(Keys.SPACE)
    browser.expect_log("Sign out completed successfully")
    focused = browser.driver.switch_to.active_element.get_attribute("id")
    assert focused == "call-graph", f"the focus is lost when Sign Out becomes disabled: it is on {focused!r}"


@test("what one tab does, the other shows when it comes to the foreground")
def two_tabs(browser):
    browser.sign_in()
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    browser.open("/ios")
    browser.expect_username(ADELE)
    browser.press("Sign Out")
    browser.expect_log("Sign out completed successfully")
    browser.driver.switch_to.window(first)
    browser.cdp("Page.bringToFront")
    browser.expect_username("Signed out")
    assert browser.log()[-1].endswith(("has been signed out.", "Account signed out. Updating UX")), browser.log()


@test("two tabs can sign in at the same time, each on its own page")
def parallel_sign_in(browser):
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.one(f"button[value='{ADELE}']")
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    browser.open("/macos")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()
    browser.driver.switch_to.window(first)
    browser.cdp("Page.bringToFront")
    browser.choose_account()
    browser.wait("consent or the page", lambda: not browser.at_tenant() or browser.all("button[name=consent], input[name=password]"))
    if browser.all("input[name=password]"):
        browser.enter_password()
    browser.wait("consent or the page", lambda: not browser.at_tenant() or browser.all("button[name=consent]"))
    if browser.at_tenant():
        browser.answer_consent()
    browser.expect_graph()
    browser.expect_page("/ios")


@test("the log keeps its history with times, can be copied and cleared, and keeps the latest in sight")
def log(browser):
    browser.open("/ios")
    browser.expect_log("Account signed out. Updating UX")
    for count in range(1, 15):
        browser.press("Get device info")
        browser.wait(f"{count} messages", lambda: sum("device info" in text for text in browser.log()) == count)
    assert len(browser.all("#log time")) == 15, "a message has no time or is gone"
    # The JSON comes with a module of its own, and moves what is in sight.
    browser.one("#log p:last-child code.json")
    seen = browser.driver.execute_script(
        "const v = document.getElementById('log').getBoundingClientRect(), e = document.querySelector('#log p:last-child').getBoundingClientRect();"
        "return e.top >= v.top && e.bottom <= v.bottom + 1")
    assert seen, "the latest message is out of sight"
    selectable = browser.driver.execute_script("return getComputedStyle(document.getElementById('log')).userSelect")
    assert selectable != "none", "the log cannot be selected"
    browser.cdp("Browser.grantPermissions", origin=browser.server.origin, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.press("Copy")
    browser.wait("the button says so", lambda: browser.one("#copy-log").text == "Copied")
    copied = browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert copied.count("Received device info. Device is in the private mode.") == 14, copied
    browser.press("Clear")
    assert browser.log() == [], browser.log()


@test("a double click calls Graph once")
def double_click(browser):
    browser.sign_in()
    before = browser.server.counts()["graph_me"]
    browser.server.control(hold="graph")
    browser.driver.execute_script("const b = document.getElementById('call-graph'); b.click(); b.click(); b.click();")
    assert browser.one("#call-graph").get_attribute("aria-busy") == "true", "the button does not show that it is busy"
    browser.server.control(hold=None)
    browser.wait("a second result", lambda: sum(text.startswith("Result from Graph: ") for text in browser.log()) == 2)
    browser.wait("not busy", lambda: browser.one("#call-graph").get_attribute("aria-busy") is None)
    after = browser.server.counts()["graph_me"]
    assert after == before + 1, f"Graph was called {after - before} times"


@test("while the account is switched, the app's buttons are busy, and a press of one does nothing")
def switching(browser):
    browser.sign_in()
    browser.press("Accounts")
    are_busy = "return [...document.querySelectorAll('.action')].map((each) => each.ariaBusy === 'true')"
    let_go = browser.hold("/api/ios/account")
    browser.click("Adele", lambda: next(each for each in browser.all("#accounts .pick") if ADELE in each.text))
    browser.wait("the switch's answer", lambda: browser.driver.execute_script("return window.held"))
    assert browser.driver.execute_script(are_busy) == [True] * 3, "a button looks as if it could be pressed"
    before = browser.log()
    browser.driver.execute_script("document.getElementById('device-info').click()")
    let_go()
    browser.wait("the end of the switch", lambda: not any(browser.driver.execute_script(are_busy)))
    browser.expect_username(ADELE)
    assert not any("device info" in text for text in browser.log()[len(before):]), browser.log()
    browser.press("Get device info")
    browser.expect_log("Received device info. Device is in the private mode.")


@test("the page can be used again after Back from the account picker")
def back(browser):
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.one(f"button[value='{ADELE}']")
    browser.driver.back()
    browser.expect_page("/ios")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()


@test("signing out in shared mode leaves the browser signed out everywhere, and nothing on the screen")
def shared_mode(browser):
    with browser.on_shared_device():
        browser.open("/")
        browser.expect_text("#mode", "Shared")
        browser.sign_in()
        browser.press("Get device info")
        browser.expect_log("Received device info. Device is in the shared mode.")
        tab = browser.driver.current_window_handle
        browser.driver.switch_to.new_window("tab")
        browser.open("/ios")
        browser.expect_username(ADELE)
        browser.press("Sign Out")
        browser.expect_page("/auth/signed-out")
        browser.expect_text("h1", "You are signed out")
        browser.driver.switch_to.window(tab)
        browser.cdp("Page.bringToFront")
        browser.expect_username("Signed out")
        assert not any("Result from Graph" in text for text in browser.log()), "the next person can read what the one before saw"


@test("a second visit asks for the document, and takes styles, scripts and pictures from what the browser kept")
def second_visit(browser):
    # By what comes last on each, the page has all that it asks for.
    for path, last in (("/", "#cards li"), ("/ios", "#code .run"), ("/portal", "#registrations button")):
        def visit(path=path, last=last):
            browser.open(path)
            browser.one(last)
            browser.settled()
        visit()
        browser.open("/auth/signed-out")
        browser.settled()
        visit()
        assets = browser.driver.execute_script(
            "return performance.getEntriesByType('resource').filter(e => e.name.includes('/assets/')).map(e => [e.name, e.transferSize])")
        assert len(assets) > 5, assets
        # A file that is revalidated counts the 304's head.
        assert not [name for name, size in assets if size], f"{path}: {assets}"
