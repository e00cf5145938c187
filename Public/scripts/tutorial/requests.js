// The steps of the story, loaded with the first of them: the request that each stands for, as MSAL sends it, and its response, with the
// meaning of each of their parameters, a line each.

import { element, hangingLines, language, loadTexts, t } from "../base/page.js";
import { fine } from "../base/flows.js";
import { nativeError } from "../base/msal-errors.js";

export * from "../base/flows.js";

/** B2C's sample has functions of their own for what edits a profile, and for a sign-in in place of a silent call. */
const edit = { authorize: "edit_profile", redeemed: "edited", failed: "not_edited" };
const again = { authorize: "again", redeemed: "renewed", failed: "not_renewed" };

/** The step of the program: a failure has the lines of its branch. */
export function lineStep({ kind, outcome, isAgain, settings }, page) {
  const own = settings?.policy === "edit_profile" ? edit : page === "b2c" && isAgain ? again : { failed: "unredeemed" };
  if (fine.has(outcome)) return own[kind] ?? kind;
  if (kind === "api") return outcome === "api_unavailable" ? "unreached" : "refused";
  if (kind === "silent") return nativeError(outcome)?.name === "MSALErrorInteractionRequired" ? kind : "silent_failed";
  if (["authorize", "callback", "unreturned", "unredeemed"].includes(kind)) return own.failed;
  return kind;
}

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

/** It stands for what is secret, or not known here. In the demo a step has the values of a sign-in that is over. */
const hidden = "…";

/** The beginning of a text that would fill the panel: a platform's code can have more than a thousand characters. */
const short = (text) => (text.length > 64 ? text.slice(0, 40) + hidden : text);

function lines(method, { endpoint, host }, fields, headers = {}) {
  const url = new URL(endpoint);
  const given = Object.entries(fields).filter(([, value]) => value);
  const isGet = method === "GET";
  return [
    `${method} ${url.pathname}${isGet && given.length > 0 ? "?" : ""}`,
    ...(isGet ? given.map(([name, value], index) => `  ${index > 0 ? "&" : ""}${name}=${value}`) : []),
    `Host: ${host ?? url.host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(isGet ? [] : ["", ...given.map(([name, value], index) => `${index > 0 ? "&" : ""}${name}=${value}`)]),
  ].join("\n");
}

const form = { "Content-Type": "application/x-www-form-urlencoded" };

/** Whether the provider sent an error to the redirect URI, and no code: what is wrong with a code's own answer, the client finds out. */
const isRefused = (outcome) => !fine.has(outcome) && !["state_mismatch", "issuer_mismatch"].includes(outcome);

/** The claims that a sign-in asks for, beside those with which every request says what the app can do. */
function claimsOf(settings, /** @type {any} */ { claims }) {
  if (!claims || !settings?.claims) return settings?.claims ?? claims;
  const [asked, always] = [JSON.parse(settings.claims), JSON.parse(claims)];
  for (const [token, members] of Object.entries(always)) asked[token] = { ...asked[token], ...members };
  return JSON.stringify(asked);
}

/**
 * The text of a step's request; null where it sends none. `settings` are those of the sign-in that it belongs to, and `client`
 * has what is public of the registration: its client ID, redirect URI and the claims of every request, where they are known. A case has its `host` in words.
 */
export function request(kind, event, settings, client = {}) {
  const { endpoint, outcome, error, error_number: number } = event;
  if (!endpoint) return null;
  const { state = hidden, nonce = hidden, code_challenge = hidden, code_verifier = hidden } = event;
  const code = short(event.code ?? hidden);
  const { client_id = hidden, redirect_uri = hidden } = client;
  const scopes = `${settings?.scopes?.join(" ") ?? hidden} openid profile offline_access`;
  switch (kind) {
    case "authorize":
      return lines("GET", event, {
        client_id,
        response_type: "code",
        redirect_uri,
        scope: scopes,
        prompt: settings?.prompt,
        login_hint: settings?.login_hint && hidden,
        domain_hint: settings?.domain_hint,
        claims: claimsOf(settings, client),
        client_info: 1,
        state,
        nonce,
        code_challenge,
        code_challenge_method: "S256",
      });
    case "callback":
      return lines("GET", event, {
        ...(isRefused(outcome) ? { error: error ?? hidden, error_description: words(number) } : { code }),
        state,
      });
    case "redeemed":
    case "unredeemed":
      return lines("POST", event, {
        grant_type: "authorization_code",
        client_id,
        code,
        redirect_uri,
        code_verifier,
        scope: scopes,
        client_info: 1,
        claims: claimsOf(settings, client),
      }, form);
    case "refreshed":
    case "silent":
      return lines("POST", event, {
        grant_type: "refresh_token",
        client_id,
        refresh_token: hidden,
        scope: scopes,
        client_info: 1,
        claims: client.claims,
      }, form);
    case "api":
    case "challenge":
      return lines("GET", event, {}, { Authorization: `Bearer ${hidden}` });
    case "sign_out":
      return lines("GET", event, { post_logout_redirect_uri: hidden, logout_hint: hidden, state: hidden });
    default:
      return null;
  }
}

// MARK: Responses

/** The provider's words about an error: their beginning is a number that anyone may know. */
const words = (number) => (number ? `${number}: ${hidden}` : hidden);

const body = (members) => `Content-Type: application/json\n\n${JSON.stringify(members, null, 2)}`;

/** Tokens came; those of which MSAL then refused the ID token, too (RFC 6749, section 5.1; `client_info` is the platform's). */
const withTokens = new Set([...fine, "invalid_id_token", "nonce_mismatch", "issuer_mismatch", "other_account"]);

/** The text of the response to a step's request; null where none is known: a page, or none at all. */
export function response(kind, { endpoint, outcome, error, error_number: number }) {
  if (!endpoint) return null;
  switch (kind) {
    case "redeemed":
    case "unredeemed":
    case "refreshed":
    case "silent":
      if (error) return body({ error, error_description: words(number) });
      if (!withTokens.has(outcome)) return null;
      return `HTTP/1.1 200 OK\n${
        body({
          token_type: "Bearer",
          scope: hidden,
          expires_in: hidden,
          access_token: hidden,
          refresh_token: hidden,
          id_token: hidden,
          client_info: hidden,
        })
      }`;
    case "challenge":
      return `HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer error="insufficient_claims", claims="${hidden}"`;
    case "api":
      if (outcome === "ok") return "HTTP/1.1 200 OK\nContent-Type: application/json";
      return /^http_\d+$/.test(outcome) ? `HTTP/1.1 ${outcome.slice(5)}` : null;
    default:
      return null;
  }
}

// MARK: Parameters

/** The names of a request's parameters, or of a response's members, in their order; a field that says something is one of them. */
export const names = (text) =>
  [...text.matchAll(/^ *&?(\w+)=|^(Authorization|WWW-Authenticate): |^ *"(\w+)": /gm)].map(([, ...found]) => found.find(Boolean));

/** A list: each name with its meaning. */
function meanings(text, meaning) {
  const rows = names(text).flatMap((name) => [element("dt", "mono", name), element("dd", "", meaning(name.toLowerCase()))]);
  return rows.length > 0 ? [element("dl", "", ...rows)] : [];
}

async function parameters(request) {
  await loadTexts("parameter");
  return meanings(request, (name) => t(`parameter.${name}`));
}

async function members(response) {
  await loadTexts("response");
  return [message(response, t("timeline.response")), ...meanings(response, (name) => t(`response.${name}`))];
}

// MARK: Details

/** A part that is made when it is first opened. */
function unfolding(name, title, make) {
  const box = element("details", name, element("summary", "unfolds", title));
  const fill = async () => box.append(...await make().catch(() => [element("p", "empty", t("app.panel_failed"))]));
  box.addEventListener("toggle", fill, { once: true });
  return box;
}

const message = (text, ariaLabel) => Object.assign(element("pre", "request", ...hangingLines(text)), { ariaLabel });

function findable(term, ...values) {
  const given = values.filter(Boolean);
  return given.length > 0 ? [element("dt", "", term), " ", element("dd", "mono", ...given)] : [];
}

/** A step's time, its request and the ids to find it by. */
export function details(event, client) {
  const { kind, settings, time, status, duration_ms: duration, endpoint, host, correlation_id: id } = event;
  const sent = request(kind, event, settings, client);
  const came = response(kind, event);
  const took = duration == null ? "" : t("timeline.took", { milliseconds: Math.round(duration) });
  return element(
    "div",
    "step-request",
    ...(sent
      ? [
        message(sent, t("timeline.request", { step: t(`timeline.step.${kind}`) })),
        ...(event.state || event.code ? [element("p", "note", t("timeline.real_values"))] : []),
        unfolding("parameters", t("timeline.parameters"), () => parameters(sent)),
      ]
      : []),
    // A challenge's response has the claims that it demands.
    ...(came ? [Object.assign(unfolding("response", t("timeline.response"), () => members(came)), { open: kind === "challenge" })] : []),
    ...(event.claims
      ? [
        unfolding("token", t("panel.claims"), async () => [await event.claims("id_token")]),
        unfolding("access", t("panel.access_claims"), async () => {
          const [table] = await Promise.all([event.claims("access_token"), loadTexts("response")]);
          return [element("p", "note", t("response.access_token")), table];
        }),
      ]
      : []),
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
      ...findable(t("timeline.endpoint"), host ? null : endpoint),
      ...findable(t("timeline.correlation_id"), id),
    ),
  );
}
