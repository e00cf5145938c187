// The application's own API, Microsoft Graph or another, which our server calls with the access token.

import { Failure, app, failure, fetchOwn, retrySeconds, sentence, wait } from "./api.js";
import { t } from "./strings.js";

/** Returns the response of the application's API, whatever its status. Our own problems are thrown as Failures. */
export async function fetchAPI(id = app, request = {}) {
  const response = await fetchOwn(`/api/${id}/me`, request);
  const ours = response.headers.get("content-type")?.startsWith("application/problem+json");
  if (ours) throw await failure(response);
  return { response, text: await response.text() };
}

/** When to ask an API again that cannot answer now, as a sentence; null where asking again does not help. */
const again = (response) => wait(response) ?? (response.status === 429 || response.status >= 500 ? t("api.wait_moment") : null);

/** What is known of a refusal, to explain it: its status, its request id, how many seconds to wait. */
const refusal = (response) => ({ status: response.status, requestID: response.headers.get("request-id"), retryAfter: retrySeconds(response) });

/**
 * Status, text, JSON (undefined when it is none), when to ask again, and how it was refused, of the application's own API.
 * `seconds` is how long the application waits for it.
 */
export async function callAPI({ seconds } = {}) {
  const { response, text } = await fetchAPI(app, { seconds });
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    // The page says so.
  }
  return { status: response.status, text, json, again: again(response), refusal: response.ok ? null : refusal(response) };
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
  const api = refusal(response);
  const parts = [sentence(said), again(response), api.requestID && t("api.request_id", { id: api.requestID })];
  return new Failure(parts.filter(Boolean).join(" "), { api, retryAfter: api.retryAfter });
}
