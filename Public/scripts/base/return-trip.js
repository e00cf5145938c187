// The trip to the identity provider and back, for every page with an application: its start, what a tab remembers while it is
// away, what it comes back with, and when it is looked at again.

import { app, get, onTold } from "./api.js";
import { base, leaving, ofTab } from "./page.js";

/** The trip for which this tab has left; nothing about the person. */
const tripKey = `trip:${app}`;
/** The element that had the focus, by its id, and whether the focus was to be seen. */
const focusKey = `focus:${app}`;
/** The state that the provider returns when it has done its part of a sign-out. */
const signOutKey = "sign-out";

/** The page's query, which is taken out of its address. */
function takeQuery() {
  const query = new URLSearchParams(location.search);
  if (location.search) history.replaceState(null, "", location.pathname);
  return query;
}

function take(key) {
  const value = ofTab.get(key);
  ofTab.remove(key);
  return value;
}

// MARK: Start

/** Returns the configured applications, with the page's own as `own`, whose title it shows. Throws Failure. */
export async function loadApplications() {
  const known = await get("/api/apps");
  const own = known.apps.find(({ id }) => id === app) ?? null;
  if (own) document.getElementById("title").textContent = own.title;
  return { ...known, own };
}

// MARK: Leaving

/** Where a sign-in to an application starts that comes back to this page. */
export const signInAddress = (fields = {}, id = app) =>
  `${base}/auth/${id}/sign-in?${new URLSearchParams({ return_to: `${base}/${app}`, ...fields })}`;

/**
 * Leaves the page; what waits for it, as a busy button does, waits until the page is gone. `takeReturn` returns `began` when
 * the tab is back. With `replace` the page leaves no entry in the history.
 */
export function leave(url, { began = undefined, replace = false } = {}) {
  if (began) ofTab.set(tripKey, began);
  // Not every browser gives the focus to a button that is clicked.
  const pressed = document.querySelector("button[aria-busy]") ?? document.activeElement;
  ofTab.set(focusKey, JSON.stringify({ id: pressed?.id, isSeen: pressed?.matches(":focus-visible") }));
  if (replace) location.replace(url);
  else location.assign(url);
  return new Promise(() => {});
}

/** Leaves for the provider's sign-out page. */
export function leaveForSignOut(redirect, options) {
  const expected = new URL(redirect).searchParams.get("state");
  if (expected) ofTab.set(signOutKey, expected);
  return leave(redirect, options);
}

// MARK: Coming back

/**
 * Returns what the tab has come back with: what it `began`, null when it was not away; the `failure` of the sign-in, as code,
 * correlation id and seconds to wait; whether an administrator has consented; and the whole `query`.
 */
export function takeReturn() {
  const query = takeQuery();
  // Anyone can make an address: only what looks like ours is taken from it.
  const given = (name, pattern) => pattern.exec(query.get(name) ?? "")?.[0] ?? null;
  const failure = query.has("sign_in_error")
    ? {
      code: given("sign_in_error", /^[a-z0-9_]{1,64}$/) ?? "unknown",
      correlationID: given("correlation_id", /^[0-9A-Za-z-]{1,64}$/),
      retryAfter: Number(given("retry_after", /^\d{1,5}$/)) || null,
    }
    : null;
  return { began: take(tripKey), failure, isConsented: query.get("admin_consent") === "granted", query };
}

/** Gives the focus back to the button that began the trip; to the menu where that is folded away. */
export function returnFocus() {
  const { id, isSeen } = JSON.parse(take(focusKey) ?? "{}");
  const began = document.getElementById(id);
  const place = began?.closest("details:not([open])")?.querySelector("summary") ?? began;
  // Those who use no keyboard need no ring.
  if (document.activeElement === document.body) place?.focus({ focusVisible: isSeen });
}

/** Returns whether the provider has confirmed the sign-out for which this tab has left. */
export function takeSignOut() {
  const expected = take(signOutKey);
  return takeQuery().get("state") === expected && expected !== null;
}

/**
 * Runs `look` when another tab has signed somebody out, and when the page comes to the foreground, because it may have. `isRestored` says
 * that the browser's Back button has brought the page back as it was left.
 */
export function onForeground(look) {
  const { signal } = leaving;
  onTold(({ begins }) => begins || look({ isRestored: false }), { signal });
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && look({ isRestored: false }), { signal });
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    // It was emptied when it was left, and loads anew.
    if (signal.aborted) return abandonTrip();
    look({ isRestored: true });
  });
}

/** Forgets the trip of a page that was restored: its button is still busy. */
export function abandonTrip() {
  ofTab.remove(tripKey);
  for (const busy of document.querySelectorAll("button[aria-busy]")) busy.removeAttribute("aria-busy");
}
