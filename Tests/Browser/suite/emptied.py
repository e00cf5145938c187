"""A page of a shared device is emptied when it is left. Whatever answer it has just been given then, nothing of it goes on."""

import json
from urllib.parse import quote

from .cases import GOOD
from .kiosk import MEGAN, kiosk, walk_up
from .registry import registry

tests, test = registry("emptied")

# The page is left when so many answers have come whole, each before any of the page's scripts has seen it, and the browser keeps it as it is
# then. What the page has begun by then must have ended, and what it begins afterwards is kept in `late`.
LEAVE = """{
  const { setTimeout: later, fetch: ask, Response: { prototype: answer } } = window;
  const page = (window.page = { at: NUMBER, answers: 0, isLeft: false, late: [], told: 0 });
  const begun = new Map();
  const isLate = (name) => page.isLeft && page.late.push(`${name} after it was left`);
  for (const [begin, end] of [["setTimeout", "clearTimeout"], ["setInterval", "clearInterval"], ["requestAnimationFrame", "cancelAnimationFrame"]]) {
    const [start, stop] = [window[begin], window[end]];
    window[begin] = (run, ...more) => {
      isLate(begin);
      const number = start((...given) => {
        if (begin !== "setInterval") begun.delete(end + number);
        run(...given);
      }, ...more);
      begun.set(end + number, begin);
      return number;
    };
    window[end] = (number) => {
      // Time-outs and intervals share their numbers.
      for (const each of end === "cancelAnimationFrame" ? [end] : ["clearTimeout", "clearInterval"]) begun.delete(each + number);
      stop(number);
    };
  }
  window.fetch = async (address, request) => {
    if (!request?.signal?.aborted) isLate(`fetch of ${address}`);
    const mine = {};
    begun.set(mine, `fetch of ${address}`);
    const end = () => begun.delete(mine);
    request?.signal?.addEventListener("abort", end);
    const given = await ask(address, request).finally(end);
    begun.set(given, `reading of ${address}`);
    request?.signal?.addEventListener("abort", () => begun.delete(given));
    return given;
  };
  for (const name of ["arrayBuffer", "blob", "json", "text"]) {
    const read = answer[name];
    answer[name] = async function () {
      const body = await read.call(this);
      page.answers += 1;
      // As a browser does, between two tasks, and never between two steps of one.
      if (page.answers === page.at) await new Promise((resolve) => later(() => {
        page.leave();
        resolve();
      }));
      begun.delete(this);
      return body;
    };
  }
  page.leave = () => {
    dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
    page.late.push(...begun.values());
    page.isLeft = true;
  };
  // A page that was kept may hear of these before it loads anew.
  page.tell = () => {
    dispatchEvent(new StorageEvent("storage", { key: "accounts-changed" }));
    for (const name of ["online", "offline"]) dispatchEvent(new Event(name));
    document.dispatchEvent(new Event("visibilitychange"));
    for (const name of ["pointerdown", "pointermove", "pointerup"]) document.body.dispatchEvent(new PointerEvent(name, { bubbles: true, screenX: page.told++ }));
    for (const key of ["Escape", "ArrowRight", "a"]) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  };
}"""

CASE = "/native/case#case=" + quote(json.dumps(GOOD), safe="")


class Row:
    def __init__(self, path, least, press=None, least_pressed=0, by=None, is_once=False):
        """`least` answers are sure to come at the page's start, and `least_pressed` after a press of the element of this selector, once for `is_once`."""
        self.path, self.least, self.press, self.least_pressed, self.by, self.is_once = path, least, press, least_pressed, by, is_once


# A shared device has no paste box.
ROWS = {
    "the home page": Row("/", 1, by=MEGAN),
    "the portal": Row("/portal?app=ios", 3, by=MEGAN),
    "the tutorial for iOS": Row("/ios", 3, "#call-graph", 3, by=MEGAN),
    "the tutorial for macOS": Row("/macos", 3),
    "the chapter on external tenants": Row("/external", 3),
    "the chapter on B2C": Row("/b2c", 3),
    "the page of one's own app": Row("/native", 3),
    "the play": Row("/native/play", 1, "#step", 3),
    "the page of a case": Row("/native/case#case=" + quote(json.dumps(GOOD), safe=""), 2),
    "the page of the facts": Row("/truth", 1),
    "the page of those who are signed out": Row("/auth/signed-out", 1),
    "the kiosk": Row("/kiosk", 2, "#sign-in", 1),
    # Another press would need another visitor.
    "the kiosk's card": Row("/kiosk", 5, "#sign-out", 1, by="the kiosk", is_once=True),
}


def leave(browser, row, number, is_pressed):
    """Opens the page, which is left at the answer of this number; returns whether so many came. Those that are sure to come are waited for."""
    ask = browser.driver.execute_script
    # An address that differs in its fragment alone would not load anew.
    browser.driver.get("about:blank")
    with browser.beginning_with(LEAVE.replace("NUMBER", "0" if is_pressed else str(number))):
        browser.open(row.path)
        if is_pressed:
            browser.one(row.press)
            browser.settled()
            ask("page.at = page.answers + arguments[0]; document.querySelector(arguments[1]).click()", number, row.press)
        if number <= (row.least_pressed if is_pressed else row.least):
            browser.wait(f"{row.path} is left at answer {number}", lambda: ask("return page.isLeft"))
        else:
            browser.settled()
    return ask("return page.isLeft")


def going_on(browser):
    """All that an emptied page still has, does or says."""
    browser.driver.execute_script("page.tell()")
    browser.settled()
    found = browser.driver.execute_script("return window.page?.isLeft ? [...page.late, ...document.body.childNodes].map(String) : ['it loaded anew']")
    return found + [entry["message"] for entry in browser.driver.get_log("browser") if entry["level"] != "INFO"]


def add(sentence, row, is_pressed):
    @test(f"{sentence}, left at any answer {'after a press' if is_pressed else 'of its start'}, ends all that it has begun, and begins nothing more")
    def left(browser):
        with kiosk(browser):
            if row.by == MEGAN:
                browser.sign_in(username=MEGAN)
            elif row.by:
                walk_up(browser)
            number, found = 0, []
            while not (is_pressed and row.is_once and number == row.least_pressed) and leave(browser, row, number + 1, is_pressed):
                number += 1
                found += [f"at answer {number}: {each}" for each in going_on(browser)]
            assert not found, "\n".join(found)


for sentence, row in ROWS.items():
    for is_pressed in (False, True) if row.press else (False,):
        add(sentence, row, is_pressed)
