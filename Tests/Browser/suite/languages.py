"""Each language: chosen by the browser, changed by the person, without a word of another on the pages."""

import json
from pathlib import Path

from selenium.webdriver.support.ui import Select

from .registry import registry

tests, test = registry("languages", time="Each language takes as long again. The menu and English at the tenant decide, with LanguageTests, which compares all texts.")

FOLDER = Path(__file__).parents[3] / "Public" / "languages"
TAGS = sorted(path.stem for path in FOLDER.glob("*.json"))
TEXTS = {tag: json.loads((FOLDER / f"{tag}.json").read_text())["page"] for tag in TAGS}


def ask_for(browser, tag):
    browser.cdp("Network.enable")
    browser.cdp("Network.setExtraHTTPHeaders", headers={"Accept-Language": tag} if tag else {})


def each(sentence, decides=True):
    """One test for each language, whose tag takes the place of {tag}. That of English decides, unless others show the same of it."""
    def add(function):
        for tag in TAGS:
            def run(browser, tag=tag):
                ask_for(browser, tag)
                try:
                    function(browser, tag, TEXTS[tag])
                finally:
                    ask_for(browser, None)
            # The others take as long again each, and what they can do wrong is the same.
            test(sentence.format(tag=tag), needs=None if tag == "en" and decides else "time")(run)
        return function
    return add


def expect_language(browser, tag):
    assert browser.driver.execute_script("return document.documentElement.lang") == tag
    text = browser.driver.execute_script("return document.body.innerText")
    keys = [key for key in TEXTS["en"] if key in text and "." in key and not key.startswith("portal.")]
    assert "{{" not in text and not keys, f"{tag}: a key instead of a text: {keys}"


@each("{tag} is what home, the iOS journey, the panels, the portal and the error page speak; axe finds nothing", decides=False)
def pages(browser, tag, texts):
    browser.open("/")
    browser.wait("the cards", lambda: browser.all("#cards li"))
    assert texts["home_page.headline"] in browser.one("h1").text
    expect_language(browser, tag)
    browser.expect_accessible(f"{tag} home")

    browser.open("/ios")
    browser.expect_log("Account signed out. Updating UX")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent("cancel")
    said = browser.expect_log("Could not acquire token: ")
    assert texts["sign_in.cancelled"] in said, said
    browser.wait("the explanation", lambda: browser.one(".step .problem"))
    assert texts["problem.who.user"] in browser.one(".step .problem").text, browser.one(".step .problem").text
    browser.wait("the steps", lambda: texts["timeline.step.authorize"] in browser.one("#timeline").text)
    expect_language(browser, tag)
    browser.expect_accessible(f"{tag} ios")

    browser.open("/portal")
    browser.one("#columns")
    expect_language(browser, tag)
    browser.expect_accessible(f"{tag} portal")

    browser.allow("/nowhere")
    browser.open("/nowhere")
    assert texts["error.code"] in browser.one("dl").text
    expect_language(browser, tag)
    browser.expect_accessible(f"{tag} error")


@each("{tag} is what titles speak that nobody has configured: cards, pages and portal", decides=False)
def titles(browser, tag, texts):
    keys = ["app_page.ios", "app_page.macos", "app_page.external", "app_page.b2c", "common_page.native", "demo.native_play", "portal_page.title", "kiosk_page.title"]
    browser.open("/")
    assert [each.text for each in browser.all("#cards h3")] == [texts[key] for key in keys]
    for path, key in (("/ios", "app_page.ios"), ("/portal", "portal_page.title")):
        browser.open(path)
        browser.settled()
        assert browser.driver.title == f"{texts[key]} · Companion", browser.driver.title
        assert browser.driver.execute_script("return document.getElementById('title').textContent") == texts[key]


RETIRED = ("can mend", "nobody has said", "knows of you", "takes everything of yours", "question which organization", "As the application has it",
           "As the browser asks", "without a page", "way back", "Not good", "page was cancelled", "sign-in was cancelled", "goes on by itself", "Fold it", "Further scopes", "its scripts",
           "whoever", "Whoever", "obody is signed in", "obody signed in", "has these words", "waits with", "wants more than", "There is none", "keeps no cookies",
           "does not answer", "another address than", "window of its own", "anew", "given up", "of this browser.", "any more", "agree to", "described another person",
           "prove to the", "is no portal", "not among those", "meanwhile", "was forgotten", "used already", "if you want to go on", "getting anywhere", "is not the one that", "another origin than",
           "admits no", "is given twice", "is over or", "off this screen", "all the same:", "for sure", "This was another", "nder way", "is there twice", "carries no",
           "heeded", "assed over", " is switched", "haves well", "isbehave", " is none.", " are dead", "cannot tell which",
           "prove who it is", "Make a new one", "have an administrator", "What maps to what",
           "answers with", "answers from its", "the answers of", "did not answer within", "no longer answers", "it answered")


@test("a Japanese heading ends its lines between phrases, and is not balanced", needs="time")
def phrases(browser):
    ask_for(browser, "ja")
    try:
        for path in ("/", "/native", "/kiosk"):
            browser.open(path)
            browser.settled()
            found = browser.driver.execute_script(
                "return [...document.querySelectorAll('h1')].map((e) => getComputedStyle(e)).map((s) => `${s.wordBreak} ${s.textWrapStyle}`)")
            assert set(found) == {"auto-phrase auto"}, f"{path}: {found}"
    finally:
        ask_for(browser, None)


@test("the pages have none of the phrases that nobody would say at a counter")
def words(browser):
    # The keys of the server's sentences are the English ones.
    files = (FOLDER / "sv.json", FOLDER / "demo" / "sv.json")
    said = [*TEXTS["en"].items(), *((text, text) for file in files for text in json.loads(file.read_text())["server"])]
    found = [f"{key}: {text}" for key, text in said for phrase in RETIRED if phrase in text and not key.startswith("timeline.does")]
    assert not found, found


# Words that another word of the same language stands for, and words of the other Portuguese.
VARIANTS = {
    "pt-PT": ("usuário", "arquivo", "senha", "locatário", "caracteres", "ID de cliente", "“", "desafio de claims", "documento de descoberta", "ID do pacote", "da app"),
    "pt-BR": ("utilizador", "ficheiro", "ecrã", "palavra-passe", "inquilino", "ID de cliente", "página de entrada", "O MSAL", "ID do pacote", "e-mail"),
    "sv": ("självstudi", "förnyelsetoken", "cacheminne", "ID-plattform", "logga ur", "tfärdarens klass", "paket-ID", "villkorlig åtkomst", "samtycke"),
    "ja": ("サインオフ", "ログアウトし", "2 つ目の要素", "認可", "デモのテナント", "スペル", "第 2 要素"),
    "zh-Hans": ("账户", "登出", "注销", "本机应用", "共用设备", "捆绑", "提供程序", "身份平台", "第二因素", "关联 ID"),
}


@test("each language has one word for each thing")
def one_word(browser):
    found = []
    for tag, words in VARIANTS.items():
        for folder in (FOLDER, FOLDER / "demo"):
            texts = json.loads((folder / f"{tag}.json").read_text())
            found += [f"{tag} {key}: {word}" for key, text in {**texts["page"], **texts["server"]}.items() for word in words if word in text]
    assert not found, found


@test("the language menu changes the language of all pages, and goes back to the browser's")
def menu(browser):
    browser.open("/")
    browser.wait("the menu", lambda: browser.all("#language select"))
    Select(browser.one("#language select")).select_by_value("sv")
    browser.wait("Swedish", lambda: browser.one("h1").text == TEXTS["sv"]["home_page.headline"])
    for path, key in (("/ios", "app_page.ios"), ("/portal", "portal_page.title")):
        browser.open(path)
        browser.settled()
        assert browser.driver.execute_script("return document.documentElement.lang") == "sv"
        assert browser.driver.title == f"{TEXTS['sv'][key]} · Companion", browser.driver.title
        assert browser.driver.execute_script("return document.getElementById('title').textContent") == TEXTS["sv"][key]
    browser.open("/")
    browser.wait("the menu", lambda: browser.all("#language select"))
    Select(browser.one("#language select")).select_by_value("")
    browser.wait("English", lambda: browser.one("h1").text == TEXTS["en"]["home_page.headline"])


@test("the kiosk speaks each language, and the next person's is the browser's again", needs="time")
def kiosk(browser):
    with browser.visiting(browser.server.sibling("kiosk", COMPANION_DEVICE_MODE="shared")):
        browser.server.reset()
        for tag in TAGS:
            ask_for(browser, tag)
            browser.open("/kiosk")
            browser.wait(f"{tag}", lambda: TEXTS[tag]["kiosk_page.attract_title"] in browser.one("#attract h1").text)
            expect_language(browser, tag)
            browser.size(375, 667, 2)
            browser.shoot(f"kiosk {tag}")
            browser.size(1280, 800)
            browser.expect_accessible(f"{tag} kiosk")
        ask_for(browser, "en")
        browser.open("/kiosk")
        browser.one("#language button[lang=ja]").click()
        browser.wait("Japanese", lambda: browser.one("#attract h1").text == TEXTS["ja"]["kiosk_page.attract_title"])
        browser.one("#sign-in").click()
        browser.choose_account()
        browser.enter_password()
        browser.answer_consent()
        browser.one("#card")
        browser.one("#sign-out").click()
        browser.wait("the start in the browser's language", lambda: browser.one("#attract h1").text == TEXTS["en"]["kiosk_page.attract_title"])
        ask_for(browser, None)


@each("{tag} is what the demo tenant speaks: by the browser, and by the choice in our menu")
def tenant(browser, tag, texts):
    def expect_tenant():
        browser.one("button[name=username]")
        assert browser.driver.execute_script("return document.documentElement.lang") == tag
        if tag != "en":
            assert "Pick an account" not in browser.one("main").text, browser.one("main").text
    browser.open("/ios")
    browser.settled()
    browser.press("Call Microsoft Graph API")
    expect_tenant()
    browser.expect_at_tenant_accessible(f"{tag} tenant picker")
    browser.choose_account()
    browser.one("input[name=password]")
    assert browser.driver.execute_script("return document.documentElement.lang") == tag
    # Now the browser asks for English, and the person has chosen.
    ask_for(browser, "en")
    browser.cdp("Network.clearBrowserCookies")
    browser.open("/")
    browser.wait("the menu", lambda: browser.all("#language select"))
    if tag != "en":
        Select(browser.one("#language select")).select_by_value(tag)
        browser.wait("the language", lambda: browser.driver.execute_script("return document.documentElement.lang") == tag)
    browser.open("/ios")
    browser.settled()
    browser.press("Call Microsoft Graph API")
    expect_tenant()
