// The steps of the story, loaded with the first of them: the flows that they form, the request that each stands for, as MSAL sends it, and
// the meaning of each of its parameters, a line each.

import { element, hangingLines, language, loadTexts, t } from "../base/page.js";
import { nativeError } from "../base/msal-errors.js";

/** The outcomes of a step that has gone well. */
export const fine = new Set(["ok", "cache", "refreshed"]);

// MARK: Flows

const longestPause = 3000; // milliseconds from one step of a flow to the next, unless the person is at the provider

/** The steps of each flow, oldest first: one press of a button, and what came of it. */
function grouped(events) {
  const flows = [];
  let previous;
  for (const event of events) {
    if (!previous || begins(event, previous)) flows.push([]);
    flows.at(-1).push(event);
    previous = event;
  }
  return flows;
}

function begins(event, previous) {
  if (event.step === "callback" || (event.attempt != null && event.attempt === previous.attempt)) return false;
  if (event.step === "sign_out" || ["sign_out", "authorize"].includes(previous.step)) return true;
  if (Date.parse(event.time) - (event.duration_ms ?? 0) - Date.parse(previous.time) > longestPause) return true;
  // A failure often ends within the same flow: by a sign-in, or by another token for the API that refused this one.
  if (!fine.has(previous.outcome)) return event.step === "token" && !["claims_challenge", "http_401"].includes(previous.outcome);
  return event.step === "authorize" || previous.step === "api" ||
    (event.step === "token" && previous.step === "token" && previous.attempt == null);
}

/** The steps of a flow by their names. What this page asks for only to show it is none of the tutorial's, which has it already. */
function named(flow) {
  let isAgain = false;
  return flow.map((event, place) => {
    const kind = name(event, flow[place - 1]);
    isAgain ||= kind === "silent";
    return { ...event, kind, isAgain };
  }).filter(({ kind }) => kind !== "shown");
}

/** The way in which a token came is a step of its own in the tutorial. */
function name({ step, outcome, attempt }, previous) {
  if (step === "api" && ["claims_challenge", "interaction_required"].includes(outcome)) return "challenge";
  if (step !== "token") return step;
  // A code is redeemed for a sign-in, right after the browser has come back.
  if (!fine.has(outcome) && (attempt != null || previous?.step === "callback")) return "unredeemed";
  if (outcome === "cache" && previous?.step === "token" && previous.outcome === "ok") return "shown";
  return { ok: "redeemed", cache: "cached", refreshed: "refreshed" }[outcome] ?? "silent";
}

/** B2C's sample has functions of their own for what edits a profile, and for a sign-in in place of a silent call. */
const edit = { authorize: "edit_profile", redeemed: "edited", failed: "not_edited" };
const again = { authorize: "again", redeemed: "renewed", failed: "not_renewed" };

/** The step of the program: a failure has the lines of its branch. */
export function lineStep({ kind, outcome, isAgain, settings }, page) {
  const own = settings?.policy === "edit_profile" ? edit : page === "b2c" && isAgain ? again : { failed: "unredeemed" };
  if (fine.has(outcome)) return own[kind] ?? kind;
  if (kind === "api") return outcome === "api_unavailable" ? "unreached" : "refused";
  if (kind === "silent") return nativeError(outcome)?.name === "MSALErrorInteractionRequired" ? kind : "silent_failed";
  if (["authorize", "callback", "unredeemed"].includes(kind)) return own.failed;
  return kind;
}

/** The flows with their steps by name, oldest first. */
export const flowsOf = (events) => grouped(events).map(named).filter((steps) => steps.length > 0);

/**
 * The flows, each step with the settings of its own sign-in, if it has one, and as `signIn` those of the code beside it: what was asked
 * for without a page has those of the sign-in in its flow, else of the one before.
 */
export function withSettings(flows, attempts = []) {
  const known = new Map(attempts.map(({ id, settings }) => [id, settings]));
  const own = (event) => event?.settings ?? known.get(event?.attempt);
  let signIn;
  return flows.map((steps) => {
    signIn = own(steps.find(own)) ?? signIn;
    return steps.map((event) => {
      signIn = own(event) ?? signIn;
      return { ...event, settings: own(event), signIn };
    });
  });
}

// MARK: Requests

/** It stands for what is secret, or not known here. */
const hidden = "…";

function lines(method, address, fields, headers = {}) {
  const url = new URL(address);
  const given = Object.entries(fields).filter(([, value]) => value);
  const isGet = method === "GET";
  return [
    `${method} ${url.pathname}${isGet && given.length > 0 ? "?" : ""}`,
    ...(isGet ? given.map(([name, value], index) => `  ${index > 0 ? "&" : ""}${name}=${value}`) : []),
    `Host: ${url.host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(isGet ? [] : ["", ...given.map(([name, value], index) => `${index > 0 ? "&" : ""}${name}=${value}`)]),
  ].join("\n");
}

const form = { "Content-Type": "application/x-www-form-urlencoded" };

/** Whether the provider sent an error to the redirect URI, and no code: what is wrong with a code's own answer, the client finds out. */
const isRefused = (outcome) => !fine.has(outcome) && !["state_mismatch", "issuer_mismatch"].includes(outcome);

/**
 * The text of a step's request; null where it sends none. `settings` are those of the sign-in that it belongs to, and `client`
 * has what is public of the registration: its client ID and redirect URI, where they are known.
 */
export function request(kind, { endpoint, outcome }, settings, client = {}) {
  if (!endpoint) return null;
  const { client_id = hidden, redirect_uri = hidden } = client;
  const scope = settings?.scopes?.join(" ") ?? hidden;
  switch (kind) {
    case "authorize":
      return lines("GET", endpoint, {
        client_id,
        response_type: "code",
        redirect_uri,
        scope: `${scope} openid profile offline_access`,
        prompt: settings?.prompt,
        login_hint: settings?.login_hint && hidden,
        domain_hint: settings?.domain_hint,
        claims: settings?.claims,
        state: hidden,
        nonce: hidden,
        code_challenge: hidden,
        code_challenge_method: "S256",
      });
    case "callback":
      return lines("GET", endpoint, {
        ...(isRefused(outcome) ? { error: hidden, error_description: hidden } : { code: hidden }),
        state: hidden,
      });
    case "redeemed":
    case "unredeemed":
      return lines("POST", endpoint, {
        grant_type: "authorization_code",
        client_id,
        code: hidden,
        redirect_uri,
        code_verifier: hidden,
      }, form);
    case "refreshed":
    case "silent":
      return lines("POST", endpoint, { grant_type: "refresh_token", client_id, refresh_token: hidden, scope }, form);
    case "api":
      return lines("GET", endpoint, {}, { Authorization: `Bearer ${hidden}` });
    case "challenge":
      return `${
        lines("GET", endpoint, {}, { Authorization: `Bearer ${hidden}` })
      }\n\nHTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer error="insufficient_claims", claims="${hidden}"`;
    case "sign_out":
      return lines("GET", endpoint, { post_logout_redirect_uri: hidden, logout_hint: hidden, state: hidden });
    default:
      return null;
  }
}

// MARK: Parameters

/** The names of a request's parameters, in its order; the field with its token is one of them. */
export const names = (request) => [...request.matchAll(/^ *&?(\w+)=|^(Authorization): /gm)].map(([, name, field]) => name ?? field);

/** A list: each name with its meaning. */
export async function meanings(request) {
  await loadTexts("parameter");
  const rows = names(request).flatMap((name) => [element("dt", "mono", name), element("dd", "", t(`parameter.${name.toLowerCase()}`))]);
  return element("dl", "", ...rows);
}

// MARK: Details

/** A part that is made when it is first opened. */
function unfolding(name, title, make) {
  const box = element("details", name, element("summary", "unfolds", title));
  const fill = async () => box.append(await make().catch(() => element("p", "empty", t("app.panel_failed"))));
  box.addEventListener("toggle", fill, { once: true });
  return box;
}

function findable(term, ...values) {
  const given = values.filter(Boolean);
  return given.length > 0 ? [element("dt", "", term), " ", element("dd", "mono", ...given)] : [];
}

/** A step's time, its request and the ids to find it by. */
export function details(event, client) {
  const { kind, settings, time, status, duration_ms: duration, endpoint, correlation_id: id } = event;
  const sent = request(kind, event, settings, client);
  const took = duration == null ? "" : t("timeline.took", { milliseconds: Math.round(duration) });
  return element(
    "div",
    "step-request",
    ...(sent
      ? [
        Object.assign(element("pre", "request", ...hangingLines(sent)), {
          ariaLabel: t("timeline.request", { step: t(`timeline.step.${kind}`) }),
        }),
        unfolding("parameters", t("timeline.parameters"), () => meanings(sent)),
      ]
      : []),
    ...(event.claims ? [unfolding("token", t("panel.claims"), event.claims)] : []),
    element(
      "dl",
      "",
      ...findable(
        t("timeline.time"),
        time && Object.assign(element("time", "", new Date(time).toLocaleTimeString(language, { hour12: false })), { dateTime: time }),
        time && took && " · ",
        took,
      ),
      ...findable("HTTP", status),
      ...findable(t("timeline.endpoint"), endpoint),
      ...findable(t("timeline.correlation_id"), id),
    ),
  );
}
