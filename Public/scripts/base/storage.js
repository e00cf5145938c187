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
