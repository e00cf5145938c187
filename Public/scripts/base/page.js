// The page itself: where it is, its language and sentences, which the server has put into it, how its elements are made, and what the
// browser keeps for it.

/** The path below which all its addresses are, as "/companion"; empty when the host is its own. */
export const base = document.documentElement.dataset.base;

/** Whether several people use this browser, one after another. */
export const isShared = document.querySelector('meta[name="device"]')?.content === "shared";

// MARK: Files and leaving

// A kiosk, and each page of a shared device, is emptied when it is left (common.js). Everything that it waits for from outside ends
// with it.

/** Aborts when the page is emptied: no answer and no event comes to it any more. */
export const leaving = new AbortController();

/** The text of a file that is the same for everybody; an emptied page waits for it for ever. */
export async function loadFile(address) {
  const { signal } = leaving;
  try {
    const response = await fetch(address, { signal });
    const text = await response.text();
    // Until its body is there.
    signal.throwIfAborted();
    if (!response.ok) throw new Error(`${response.status}: ${address}`);
    return text;
  } catch (error) {
    if (signal.aborted) return new Promise(() => {});
    throw error;
  }
}

/** The value of such a file, as JSON has it. */
export const loadJSON = async (address) => JSON.parse(await loadFile(address));

// MARK: Sentences

const texts = JSON.parse(document.getElementById("strings").textContent);

/** Changes with the texts, so that browsers keep those that are fetched. */
const { content: version } = document.querySelector('meta[name="texts"]');

/** The page's language, for dates and numbers. */
export const language = document.documentElement.lang;

/** Fetches the texts of a section that the page does not bring with it, because few people open what they are for. */
export async function loadTexts(section) {
  const loaded = await loadJSON(`${base}/assets/texts/${version}/${language}/${section}.json`);
  for (const [key, text] of Object.entries(loaded)) texts[`${section}.${key}`] = text;
}

/** The sentence with this key, its `{placeholders}` replaced; empty when the page has none. */
export function t(key, values = {}) {
  return (texts[key] ?? "").replace(/\{(\w+)\}/g, (placeholder, name) => values[name] ?? placeholder);
}

/** A sentence as text and elements: each `{placeholder}` gives way to the element of that name. */
export function withElements(text, elements) {
  return text.split(/\{(\w+)\}/).map((part, index) => (index % 2 ? elements[part] : part));
}

/** Returns what says whether a text has all the words in it that were typed, in any order. */
export function finding(typed) {
  const words = typed.toLocaleLowerCase(language).split(/\s+/).filter(Boolean);
  return (text) => words.every((word) => text.toLocaleLowerCase(language).includes(word));
}

// MARK: Elements

/** An element with a class and content: its text is text, never markup. */
export function element(name, className = "", ...content) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

/** Copies a text, and says so for a moment on the button that was pressed; returns what it says. */
export async function copyWith(pressed, text) {
  const label = (pressed.dataset.label ??= pressed.firstChild.textContent);
  let said = t("common.copied");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    said = t("common.not_copied");
  }
  // Nothing beside it moves.
  pressed.style.minWidth = `${pressed.offsetWidth}px`;
  pressed.firstChild.textContent = said;
  setTimeout(() => (pressed.firstChild.textContent = label), 1500);
  return said;
}

/** The lines of a text as elements of this class: what of a line has no room stands below it, further to the right than it began. */
export function hangingLines(text, name = "line") {
  return text.split("\n").map((line) => {
    const [margin] = /^ */.exec(line);
    const shown = element("span", name, element("span", "margin", margin), `${line.slice(margin.length)}\n`);
    shown.style.setProperty("--spaces", margin.length);
    return shown;
  });
}

const styles = {};

/** Loads a style that few people need, when it is first needed. */
export function loadStyle(href) {
  styles[href] ??= new Promise((resolve) => {
    document.head.append(Object.assign(element("link"), { rel: "stylesheet", href, onload: resolve, onerror: resolve }));
  });
  return styles[href];
}

// MARK: Storage

// The browser's storage and cookies, which people and administrators can block: what a page keeps then lasts as long as the page.
// No other script touches them.

/** Keeps texts by key, in the browser's storage of this name while it accepts them. */
function storage(name) {
  const own = new Map();
  const ask = (question) => {
    try {
      return question(globalThis[name]);
    } catch {
      return undefined;
    }
  };
  return {
    isBlocked: () => ask((real) => real.length) === undefined,
    get: (key) => own.get(key) ?? ask((real) => real.getItem(key)) ?? null,
    /** The value of what was kept as JSON; `otherwise` where there is none. */
    json(key, otherwise = null) {
      try {
        return JSON.parse(this.get(key)) ?? otherwise;
      } catch {
        return otherwise;
      }
    },
    set(key, value) {
      own.delete(key);
      const isKept = ask((real) => {
        real.setItem(key, value);
        return true;
      });
      if (!isKept) own.set(key, String(value));
    },
    remove(key) {
      own.delete(key);
      ask((real) => real.removeItem(key));
    },
  };
}

/** Of this tab, until it is closed. */
export const ofTab = storage("sessionStorage");
/** Of all tabs of this browser. */
export const ofBrowser = storage("localStorage");

/** Whether this browser keeps cookies of this site. Chromium says that it does where only this site's are blocked. */
export function hasCookies() {
  if (!navigator.cookieEnabled || !ofBrowser.isBlocked()) return navigator.cookieEnabled;
  document.cookie = "probe=1; SameSite=Strict";
  const isKept = document.cookie.includes("probe=1");
  document.cookie = "probe=; SameSite=Strict; Max-Age=0";
  return isKept;
}

/** Whether this browser blocks cookies or storage for this site. */
export const isBlocked = () => ofTab.isBlocked() || !hasCookies();
