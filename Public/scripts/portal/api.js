// Calls of the chosen application's own API and of those that the operator allows, in one bar: the path, its parameters, the call. The
// answer is a tree, and a listed call is shown as curl and as Swift too.

import { fetchAPI, get } from "../base/api.js";
import { element, t } from "../base/page.js";
import { keep, kept } from "./form.js";
import { tree } from "./json.js";
import { button, copyButton, explained, facts, folded, milliseconds, run, signInButton, statusBox, table } from "./parts.js";

const fields = ["select", "top", "filter"];

function labelled(name, field, hint) {
  Object.assign(field, { id: `call-${name}`, name });
  const label = Object.assign(element("label", "", t(`portal.call.${name}`)), { htmlFor: field.id });
  return element("p", "", label, field, ...(hint ? [element("small", "", hint)] : []));
}

// MARK: The answer

/** The call as a command; the token is a variable, because it never reaches this page. */
const curl = (url) => `curl --header "Authorization: Bearer $TOKEN" '${url.replaceAll("'", "'\\''")}'`;

/** The call in an app that has a result of MSAL. */
const swift = (url, scopes) =>
  [
    ...(scopes.length > 0 ? [`// MSALSilentTokenParameters(scopes: ${JSON.stringify(scopes)}, account: account)`] : []),
    `guard let url = URL(string: ${JSON.stringify(url)}) else { return }`,
    "var request = URLRequest(url: url)",
    'request.setValue("Bearer \\(result.accessToken)", forHTTPHeaderField: "Authorization")',
    "let (data, response) = try await URLSession.shared.data(for: request)",
  ].join("\n");

const code = (title, text) =>
  folded(title, false, Object.assign(element("pre", "", text), { tabIndex: 0 }), copyButton(t("portal.copy"), () => text));

/** Which properties came: those of the object, or of the first one of a collection. */
function properties(body) {
  const one = Array.isArray(body?.value) ? body.value[0] : body;
  return one && typeof one === "object" ? Object.keys(one).filter((name) => !name.startsWith("@")).join(", ") : "";
}

function content(body, text) {
  if (body != null) return [folded(t("portal.as_tree"), true, tree(body))];
  return text ? [element("p", "quiet", t("portal.not_json")), element("pre", "", text)] : [element("p", "quiet", t("portal.call.nothing"))];
}

const headersTable = (headers) =>
  table(
    [t("portal.header"), t("claims.value")],
    headers.map(([name, value]) => [element("code", "", name), element("span", "mono", value)]),
  );

function answer(/** @type {any} */ { status, request_id: id, ms, url, body, text, headers, next, next_refused: isRefused }, scopes, more) {
  const isGood = status < 400;
  return [
    facts([
      [
        t("portal.status"),
        element("strong", isGood ? "good" : "bad", `${status} · ${isGood ? t("portal.succeeded") : t("portal.refused")}`),
      ],
      [t("portal.call.address"), url && element("span", "mono", url)],
      [t("portal.request_id"), id],
      [t("portal.measured"), milliseconds(ms)],
      [t("portal.call.properties"), properties(body)],
    ]),
    ...content(body, text),
    ...(next ? [element("p", "buttons", button(t("portal.call.next"), more))] : []),
    ...(isRefused ? [element("p", "quiet", t("portal.call.next_refused"))] : []),
    ...(headers ? [folded(t("portal.headers"), false, headersTable(headers))] : []),
    ...(url ? [code(t("portal.call.as_curl"), curl(url)), code(t("portal.call.as_swift"), swift(url, scopes))] : []),
  ];
}

/** A permission that is missing is one press away. */
function refused(failure) {
  if (failure.code !== "consent_required" || !failure.signInURL) return explained(failure);
  const consent = signInButton(t("portal.call.consent"), failure.signInURL);
  return explained({ ...failure, message: failure.message, signInURL: null }, consent);
}

// MARK: The call

/** The answer of the application's own API, with its headers. */
async function callOwn(id) {
  const began = performance.now();
  const { headers, status, text } = await fetchAPI(id);
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    // The text is shown instead.
  }
  return { status, request_id: headers.get("request-id"), ms: performance.now() - began, body, text, headers: [...headers] };
}

export function view({ application, apis }) {
  const listed = apis.filter(({ applications }) => applications.includes(application.id))
    .flatMap(({ name, paths }) => paths.map(({ path, scopes }) => ({ api: name, path, scopes })));
  const choice = Object.assign(element("select"), { className: "mono" });
  choice.append(
    new Option(t("portal.call.own"), "own"),
    ...listed.map(({ api, path }, index) => new Option(`${api} ${path}`, index)),
  );
  /** One of the operator's list; undefined for the application's own API. */
  const chosen = () => listed[choice.value];
  const box = statusBox();
  const result = element("div", "", element("p", "quiet", t("portal.not_called")));
  const segments = element("div", "segments");
  const inputs = Object.fromEntries(fields.map((name) => [name, element("input")]));
  inputs.top.inputMode = "numeric";
  const parameters = element(
    "div",
    "parameters",
    segments,
    labelled("select", inputs.select, t("portal.call.select_hint")),
    labelled("top", inputs.top),
    labelled("filter", inputs.filter, t("portal.call.filter_hint")),
  );
  const note = element("p", "quiet", t("portal.call.note"));

  function showParameters() {
    const each = chosen();
    parameters.hidden = note.hidden = !each;
    const stars = each?.path.split("/").filter((part) => part === "*").length ?? 0;
    segments.replaceChildren(...Array.from({ length: stars }, (_, index) => {
      const input = element("input");
      const made = labelled("segment", input, index === 0 ? t("portal.call.segment_hint") : "");
      input.id = made.firstChild.htmlFor = `call-segment-${index}`;
      return made;
    }));
  }

  async function call(query) {
    result.replaceChildren();
    const each = chosen();
    if (!each) return result.replaceChildren(...answer(await callOwn(application.id)));
    const came = await get(`/api/${application.id}/call?${new URLSearchParams({ api: each.api, ...query })}`);
    const more = (pressed) => run(pressed, box, () => call({ path: came.next.path, next: came.next.query }), refused);
    result.replaceChildren(...answer(came, each.scopes, more));
  }

  /** The path and the parameters as they are filled in, which are at hand again after the trip for a permission. */
  function filledIn() {
    const given = [...segments.querySelectorAll("input")].map(({ value }) => value.trim());
    const values = Object.fromEntries(fields.map((name) => [name, inputs[name].value.trim()]));
    keep({ call: { choice: choice.value, segments: given, ...values } });
    const path = chosen()?.path.split("/").map((part) => (part === "*" ? given.shift() : part)).join("/");
    return { path, ...Object.fromEntries(Object.entries(values).filter(([, value]) => value)) };
  }

  const go = Object.assign(button(t("portal.call_api"), () => {}, "primary"), { type: "submit" });
  const form = Object.assign(element("form", "call"), { noValidate: true, autocomplete: "off" });
  form.append(element("div", "bar", labelled("path", choice), go), parameters);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = filledIn();
    return run(go, box, () => call(query), refused);
  });
  choice.addEventListener("change", showParameters);
  const { call: last } = kept();
  if (listed[last?.choice]) choice.value = last.choice;
  showParameters();
  for (const name of fields) inputs[name].value = last?.[name] ?? "";
  for (const [index, input] of segments.querySelectorAll("input").entries()) input.value = last?.segments[index] ?? "";
  return [form, note, box, result];
}
