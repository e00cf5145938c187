// The server's JSON API as the pages use it, and its failures in plain words; the trip to the identity provider and back.

import { base, leaving, ofBrowser, ofTab, t } from "./page.js";

/** The application's name: the first segment of the path of the page, below ours. */
export const app = location.pathname.slice(base.length).split("/")[1] ?? "";

/** The facts of a problem that pages show. */
const facts = [
  "title",
  "detail",
  "explanation",
  "correlation_id",
  "trace_id",
  "timestamp",
  "retryAfter",
  "api",
  "api_status",
  "provider_error",
  "provider_words",
];

/** Anything that kept a call from giving its result. `message` is a sentence for the person. */
export class Failure extends Error {
  constructor(message, /** @type {any} */ { code = null, action = null, ...details } = {}) {
    super(message);
    for (const name of facts) this[name] = details[name];
    this.code = code;
    this.action = action;
  }

  /** The path of ours at which the person can settle it by signing in again; null when signing in would not help. */
  get signInURL() {
    const settled = ["interaction_required", "consent_required", "session_expired"].includes(this.code);
    if (!settled || this.action?.kind !== "sign_in") return null;
    const url = new URL(this.action.url, location.origin);
    return url.origin === location.origin ? url.href : null;
  }
}

const answersWithin = 60; // seconds

/** The requests that are under way, but those that sign out; each can be ended. */
const underWay = new Set();
/** Settles when the sign-out that is under way has failed; null while none is. */
let signOutFailed = null;

/**
 * Sends a request to a path of ours, which it puts below the base; what changes something carries our header. Returns its answer whole:
 * whoever reads it waits for nothing more, so that the page is not left in between. Throws Failure when there is no answer.
 */
export async function fetchOwn(path, { method = "GET", body = undefined, seconds = answersWithin, isSignOut = false } = {}) {
  const isRead = method === "GET";
  while (!isSignOut && signOutFailed) await signOutFailed;
  const end = new AbortController();
  if (!isSignOut) underWay.add(end);
  const signal = AbortSignal.any([leaving.signal, end.signal, AbortSignal.timeout(seconds * 1000)]);
  /** @type {any} */
  const request = { method, cache: "no-store", redirect: "error", signal };
  if (!isRead) request.headers = { "X-Companion": "1" };
  if (body !== undefined) {
    request.headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(body);
  }
  try {
    const response = await fetch(base + path, request);
    const body = await response.arrayBuffer();
    // Until its body is there, a request can be ended, and then its answer counts no more.
    signal.throwIfAborted();
    return { ok: response.ok, status: response.status, headers: response.headers, body, text: new TextDecoder().decode(body) };
  } catch (error) {
    if (leaving.signal.aborted) return new Promise(() => {});
    if (end.signal.aborted) {
      await end.signal.reason;
      if (isRead) return fetchOwn(path, { seconds });
    }
    if (error.name === "TimeoutError") throw new Failure(t("api.timeout", { seconds }));
    if (!navigator.onLine) throw new Failure(t("api.offline"));
    throw new Failure(t("api.unreachable"));
  } finally {
    underWay.delete(end);
  }
}

/** The JSON of a 2xx answer of ours, null where there is none; every other answer is a Failure. */
export async function send(path, request) {
  const response = await fetchOwn(path, request);
  if (!response.ok) throw failure(response);
  if (response.status === 204) return null;
  try {
    return JSON.parse(response.text);
  } catch {
    throw new Failure(t("api.unreadable"));
  }
}

export const get = (path) => send(path);
export const post = (path, body = {}) => send(path, { method: "POST", body });

/** Hears the answer about the applications. */
let tellOfApplications = (_) => {};

/** Calls this with the answer about the applications, once the page asks for it. */
export const onApplications = (heard) => (tellOfApplications = heard);

/** Returns the configured applications, with the page's own as `own`, whose title it shows. Throws Failure. */
export async function loadApplications() {
  const known = await get("/api/apps");
  tellOfApplications(known);
  const own = known.apps.find(({ id }) => id === app) ?? null;
  if (own) document.getElementById("title").textContent = own.title;
  return { ...known, own };
}

/** A page tells the other tabs the time of a change, after this word where a sign-out begins. */
const toldKey = "accounts-changed";
const beginning = "sign-out";

/** Has the other tabs look who is still signed in. */
export const tellOtherTabs = () => ofBrowser.set(toldKey, Date.now());

/** Calls this when another tab has told that a sign-out begins, or that somebody may have been signed out. */
export function onTold(heard, options) {
  const hear = ({ key, newValue }) => key === toldKey && heard({ begins: newValue?.startsWith(beginning) === true });
  addEventListener("storage", hear, options);
}

/**
 * Posts a sign-out. A request that is under way, or begins meanwhile, would be about an account that is gone: what waits for it waits until
 * the page is drawn anew. Where the sign-out fails, a read is asked again, and what changes something may have reached the server or not.
 *
 * The other tabs are told that it begins, and where it fails; who calls this tells them that it is done.
 */
export async function postSignOut(path, body) {
  ofTab.remove(endedKey);
  let fail = (_) => {};
  signOutFailed = new Promise((resolve) => (fail = resolve));
  for (const end of underWay) end.abort(signOutFailed);
  ofBrowser.set(toldKey, `${beginning} ${Date.now()}`);
  try {
    return await send(path, { method: "POST", body, isSignOut: true });
  } catch (failure) {
    fail();
    tellOtherTabs();
    throw failure;
  } finally {
    signOutFailed = null;
  }
}

/** One of our own errors (RFC 9457), or whatever stood in its place. */
function failure(response) {
  let problem = {};
  try {
    problem = JSON.parse(response.text);
  } catch {
    return new Failure(t("api.unexplained", { status: response.status }));
  }
  const ids = [problem.code, problem.correlation_id && t("api.correlation_id", { id: problem.correlation_id })].filter(Boolean);
  // These say themselves how long to wait.
  const isTimed = ["throttled", "sign_in_loop"].includes(problem.code);
  const parts = [
    sentence(problem.detail || problem.title || t("api.status", { status: response.status })),
    !isTimed && wait(response),
    ids.length && `(${ids.join(", ")})`,
  ];
  return new Failure(parts.filter(Boolean).join(" "), { ...problem, retryAfter: retrySeconds(response) });
}

/** With a full stop, where a Latin text has none. */
export const sentence = (text) => (/[\p{Script=Latin}\d)"”]$/u.test(text) ? `${text}.` : text);

/** The seconds that a Retry-After header (RFC 9110, section 10.2.3) asks to wait; null when it does not. */
export function retrySeconds(response) {
  const value = response.headers.get("retry-after");
  if (!value) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1000);
  return seconds > 0 ? seconds : null;
}

/** When to try again, as a sentence; null when the answer does not say. */
export function wait(response) {
  const seconds = retrySeconds(response);
  if (!seconds) return null;
  if (seconds === 1) return t("api.wait_second");
  if (seconds < 120) return t("api.wait_seconds", { seconds });
  return t("api.wait_minutes", { minutes: Math.ceil(seconds / 60) });
}

// MARK: The application's own API, Microsoft Graph or another, which our server calls with the access token

/** Returns the response of the application's API, whatever its status. Our own problems are thrown as Failures. */
export async function fetchAPI(id = app, request = {}) {
  const response = await fetchOwn(`/api/${id}/me`, request);
  const ours = response.headers.get("content-type")?.startsWith("application/problem+json");
  if (!ours) return response;
  /** @type {any} */
  const problem = failure(response);
  // A call before the end of the pause that the API has asked for.
  if (problem.code === "throttled") problem.api = { ...refusal(response), ...problem.api_status && { status: problem.api_status } };
  throw problem;
}

/** When to ask an API again that cannot answer now, as a sentence; null where asking again does not help. */
const again = (response) => wait(response) ?? (response.status === 429 || response.status >= 500 ? t("api.wait_moment") : null);

/** A refusal's facts, which explain it: its status, its request id, how many seconds to wait. */
const refusal = (response) => ({
  status: response.status,
  requestID: response.headers.get("request-id"),
  retryAfter: retrySeconds(response),
});

/**
 * Status, text, JSON (undefined when it is none), when to ask again, and how it was refused, of the application's own API.
 * `seconds` is how long the application waits for it.
 */
export async function callAPI({ seconds = undefined } = {}) {
  const response = await fetchAPI(app, { seconds });
  const { status, text } = response;
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    // The page says so.
  }
  return { status, text, json, again: again(response), refusal: response.ok ? null : refusal(response) };
}

/** Microsoft Graph's answer about the signed-in account. */
export async function getMe(id = app) {
  const response = await fetchAPI(id);
  if (response.ok) {
    try {
      return JSON.parse(response.text);
    } catch {
      throw new Failure("Couldn't deserialize result JSON", { code: "not_json" });
    }
  }
  throw upstreamFailure(response);
}

/** A Graph error: `{"error": {"code", "message"}}` with its request id. */
function upstreamFailure(response) {
  let error = {};
  try {
    error = JSON.parse(response.text)?.error ?? {};
  } catch {
    // An error page of something between: its status is all that can be said.
  }
  const said = [error.code ?? `HTTP ${response.status}`, error.message].filter(Boolean).join(" ");
  const api = refusal(response);
  const parts = [sentence(said), again(response), api.requestID && t("api.request_id", { id: api.requestID })];
  return new Failure(parts.filter(Boolean).join(" "), { api, retryAfter: api.retryAfter });
}

// MARK: The trip to the identity provider

// Every page with an application has it: its start, what a tab remembers while it is away, what it comes back with, and when it is looked at
// again.

/**
 * The application from whose page this tab has left, and what for; with a replay, the outcome of its case; in the demo, the ID of the request
 * at its tenant. Nothing about the person. A tab is on one trip at a time.
 */
const tripKey = "trip";
/** The sign-in that has ended on the provider's page, with its application, until this tab's next sign-in or sign-out begins. */
const endedKey = "ended";
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

// MARK: The trip: leaving

/** Where a sign-in to an application starts that comes back to this page. */
export const signInAddress = (fields = {}, id = app) =>
  `${base}/auth/${id}/sign-in?${new URLSearchParams({ return_to: `${base}/${app}`, ...fields })}`;

/**
 * Notes that this tab leaves for an application's page by way of the provider; with a replay, which outcome is `expected`; by which ID the
 * demo's tenant knows the `request`.
 */
export function beginTrip(id, began, { expected = undefined, request = undefined } = {}) {
  ofTab.set(tripKey, JSON.stringify([id, began, expected, request]));
  ofTab.remove(endedKey);
}

export const forgetTrip = () => ofTab.remove(tripKey);

/**
 * Leaves the page; what waits for it, as a busy button does, waits until the page is gone. `takeReturn` returns `began` when
 * the tab is back. With `replace` the page leaves no entry in the history.
 */
export function leave(url, { began = undefined, request = undefined, replace = false } = {}) {
  const address = new URL(url, location.origin);
  // The demo's tenant can say later what became of a sign-in.
  if (/\/auth\/[^/]+\/sign-in$/.test(address.pathname) && document.getElementById("demo")?.textContent) {
    request = crypto.randomUUID?.();
    if (request) address.searchParams.set("request", request);
  }
  if (began) beginTrip(app, began, { request });
  // Not every browser gives the focus to a button that is clicked.
  const pressed = document.querySelector("button[aria-busy]") ?? document.activeElement;
  ofTab.set(focusKey, JSON.stringify({ id: pressed?.id, isSeen: pressed?.matches(":focus-visible") }));
  if (replace) location.replace(address);
  else location.assign(address);
  return new Promise(() => {});
}

/** Leaves for the provider's sign-out page. */
export function leaveForSignOut(redirect, options) {
  const expected = new URL(redirect).searchParams.get("state");
  if (expected) ofTab.set(signOutKey, expected);
  return leave(redirect, options);
}

// MARK: The trip: coming back

/** The trip for which this page has left, which it then forgets; with null when the tab was not away for it. */
function takeTrip() {
  const [left, began, expected, request] = ofTab.json(tripKey, []);
  if (left !== app) return { began: null };
  forgetTrip();
  return { began, expected, request };
}

/**
 * On home, to which the demo's error pages lead with what they say: goes on to the page that this tab has left; if it has left none, to
 * the explanation of the number.
 */
export async function resumeTrip() {
  const query = takeQuery();
  if (!query.has("ended")) return;
  const [left] = ofTab.json(tripKey, []);
  if (left) return location.replace(`${base}/${left}?${query}`);
  const number = await import("./platform-numbers.js").then(({ fullNumber }) => fullNumber(query.get("ended")));
  if (number) location.replace(`${base}/paste#${number}`);
}

/**
 * Returns what the tab has come back with: what it `began`, null when it was not away, and what a replay `expected`; the `failure` of the sign-in, as code,
 * correlation id and seconds to wait; in the demo, the number of the error with which it has `ended` on the provider's page; whether an
 * administrator has consented; and the whole `query`.
 */
export function takeReturn() {
  const query = takeQuery();
  // Anyone can make an address: only what looks like ours is taken from it.
  const given = (name, pattern) => pattern.exec(query.get(name) ?? "")?.[0] ?? null;
  const correlationID = given("correlation_id", /^[0-9A-Za-z-]{1,64}$/);
  const failure = query.has("sign_in_error")
    ? {
      code: given("sign_in_error", /^[a-z0-9_]{1,64}$/) ?? "unknown",
      correlationID,
      retryAfter: Number(given("retry_after", /^\d{1,5}$/)) || null,
    }
    : null;
  const number = given("ended", /^\d{4,9}$/);
  const ended = number && { number, correlationID };
  return { ...takeTrip(), failure, ended, isConsented: query.get("admin_consent") === "granted", query };
}

/** Has the tab remember the end of this application's sign-in on the provider's page, as often as its page is opened. */
export const keepEnd = (known) => ofTab.set(endedKey, JSON.stringify({ app, ...known }));

/** The end that was kept; null where there is none of this application. */
export function keptEnd() {
  const kept = ofTab.json(endedKey);
  return kept?.app === app ? kept : null;
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

/** Returns the trip for which a page that was restored had left, and forgets it: its button is still busy. */
export function abandonTrip() {
  for (const busy of document.querySelectorAll("button[aria-busy]")) busy.removeAttribute("aria-busy");
  return takeTrip();
}

/** In the demo, the error whose page the browser's Back button has left, as its tenant knows it; undefined for any other page. */
export async function leftError(request) {
  if (!request) return undefined;
  const { errors } = await get(`/api/demo/mission?${new URLSearchParams({ request })}`).catch(() => ({ errors: [] }));
  const number = /\d+$/.exec(errors[0])?.[0];
  return number && { number, correlationID: request };
}
