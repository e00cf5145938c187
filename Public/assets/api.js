// The server's JSON API as the pages use it, and its failures in plain words.

/** The application's name: the first segment of the path of the page. */
export const app = location.pathname.split("/")[1] ?? "";

/** Anything that kept a call from giving its result. `message` is a sentence for the person. */
export class Failure extends Error {
  constructor(message, { code = null, action = null, ...details } = {}) {
    super(message);
    Object.assign(this, { title: details.title, explanation: details.explanation, correlation_id: details.correlation_id });
    Object.assign(this, { trace_id: details.trace_id, timestamp: details.timestamp, retryAfter: details.retryAfter });
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

const answerWithin = 60_000;

/** Sends a request to our own server; what changes something carries our header. Throws Failure when there is no answer. */
async function fetchOwn(path, { method = "GET", body } = {}) {
  const request = { method, cache: "no-store", redirect: "error", signal: AbortSignal.timeout(answerWithin) };
  if (method !== "GET") request.headers = { "X-Companion": "1" };
  if (body !== undefined) {
    request.headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(body);
  }
  try {
    return await fetch(path, request);
  } catch (error) {
    if (error.name === "TimeoutError") throw new Failure(`The server did not answer within ${answerWithin / 1000} seconds. Try again.`);
    if (!navigator.onLine) throw new Failure("This device is offline. Connect it to the network and try again.");
    throw new Failure("The Companion server cannot be reached. Check that it is running and try again.");
  }
}

/** The JSON of a 2xx answer of ours, null where there is none; every other answer is a Failure. */
export async function send(path, request) {
  const response = await fetchOwn(path, request);
  if (!response.ok) throw await failure(response);
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch {
    throw new Failure("The server's answer could not be read. Reload the page and try again.");
  }
}

export const get = (path) => send(path);
export const post = (path, body = {}) => send(path, { method: "POST", body });

/** The application's API as it answers, whatever its status; our own problems are Failures. */
async function fetchAPI() {
  const response = await fetchOwn(`/api/${app}/me`);
  const ours = response.headers.get("content-type")?.startsWith("application/problem+json");
  if (ours) throw await failure(response);
  return { response, text: await response.text() };
}

/** Status, text and JSON (undefined when it is none) of the application's own API. */
export async function callAPI() {
  const { response, text } = await fetchAPI();
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    // The page says so.
  }
  return { status: response.status, text, json };
}

/** What Microsoft Graph says of the signed-in account. */
export async function getMe() {
  const { response, text } = await fetchAPI();
  if (response.ok) {
    try {
      return JSON.parse(text);
    } catch {
      throw new Failure("Couldn't deserialize result JSON", { code: "not_json" });
    }
  }
  throw upstreamFailure(response, text);
}

/** A Graph error: `{"error": {"code", "message"}}` with its request id. */
function upstreamFailure(response, text) {
  let error = {};
  try {
    error = JSON.parse(text)?.error ?? {};
  } catch {
    // An error page of something between: its status is all that can be said.
  }
  const said = [error.code ?? `HTTP ${response.status}`, error.message].filter(Boolean).join(" ");
  const id = response.headers.get("request-id");
  return new Failure([sentence(said), wait(response), id && `Request id ${id}.`].filter(Boolean).join(" "));
}

/** One of our own errors (RFC 9457), or whatever stood in its place. */
async function failure(response) {
  let problem = {};
  try {
    problem = await response.json();
  } catch {
    return new Failure(`The server answered with status ${response.status} and no explanation. Try again.`);
  }
  const ids = [problem.code, problem.correlation_id && `correlation id ${problem.correlation_id}`].filter(Boolean);
  const parts = [sentence(problem.detail || problem.title || `Status ${response.status}`), wait(response), ids.length && `(${ids.join(", ")})`];
  return new Failure(parts.filter(Boolean).join(" "), { ...problem, retryAfter: retrySeconds(response) });
}

const sentence = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);

/** How long a Retry-After header (RFC 9110, section 10.2.3) asks to wait, in seconds; null when it does not. */
function retrySeconds(response) {
  const value = response.headers.get("retry-after");
  if (!value) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - Date.now()) / 1000);
  return seconds > 0 ? seconds : null;
}

function wait(response) {
  const seconds = retrySeconds(response);
  if (!seconds) return null;
  if (seconds < 120) return `Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`;
  return `Try again in ${Math.ceil(seconds / 60)} minutes.`;
}

const unverified = "The identity provider's answer could not be verified. Try again; if it happens again, tell the operator.";
const misconfigured = "The identity provider does not accept this application as it is configured. The operator can run companion check.";

const signInErrors = {
  cancelled: "The sign-in was cancelled.",
  password_reset_requested: "The password was forgotten, and this application has no page to reset it.",
  other_account: "Another account was used than the one that is signed in here.",
  consent_required: "The permissions that this application asks for were not granted.",
  admin_consent_required: "Only an administrator of this organization can grant the permissions. Ask yours to approve this application.",
  interaction_required: "The identity provider needs you to sign in again.",
  access_denied: "This account may not sign in here. Ask the administrator of your organization.",
  provider_unavailable: "The identity provider does not answer. Try again in a moment.",
  provider_rejected_client: misconfigured,
  provider_rejected_request: misconfigured,
  provider_metadata_invalid: misconfigured,
  throttled: "There were too many sign-ins in a short time. Wait a minute and try again.",
  sign_in_loop: "The sign-in kept starting over and was stopped. Wait a minute and try again; if it happens again, tell the operator.",
  session_expired: "The sign-in took too long. Try again.",
  state_mismatch: "The sign-in is over, took too long or was not started here. Try again.",
  issuer_mismatch: unverified,
  nonce_mismatch: unverified,
  invalid_id_token: unverified,
  storage_unavailable: "The server cannot store the sign-in at the moment. Try again.",
  server_error: "Something went wrong on the server. Try again; if it happens again, tell the operator.",
};

/** A failed interactive sign-in, from the code and correlation id with which the server came back. */
export function explainSignIn(code, correlationID) {
  const known = /^[a-z0-9_]{1,64}$/.test(code) ? code : "unknown";
  const ids = [known];
  if (/^[0-9A-Za-z-]{1,64}$/.test(correlationID ?? "")) ids.push(`correlation id ${correlationID}`);
  return `${signInErrors[known] ?? "The identity provider refused the sign-in."} (${ids.join(", ")})`;
}
