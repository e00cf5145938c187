// Calls of the APIs that the operator allows: a form, the answer as a tree, and the same call as curl and as Swift.

import { get } from "./api.js";
import { element, t } from "./page.js";
import { tree } from "./portal-json.js";
import { keep, kept } from "./portal-form.js";
import { button, copyButton, explained, facts, folded, milliseconds, run, signInButton, statusBox } from "./portal-parts.js";

const fields = ["select", "top", "filter"];

function labelled(name, field, hint) {
  Object.assign(field, { id: `call-${name}`, name });
  const label = Object.assign(element("label", "", t(`portal.call.${name}`)), { htmlFor: field.id });
  return element("p", "", label, field, ...(hint ? [element("small", "", hint)] : []));
}

/** The call as a command; the token is a variable, because it never reaches this page. */
const curl = (url) => `curl --header "Authorization: Bearer $TOKEN" '${url.replaceAll("'", "'\\''")}'`;

/** The call in an app that has a result of MSAL. */
const swift = (url, scopes) => [
  ...(scopes.length > 0 ? [`// MSALSilentTokenParameters(scopes: ${JSON.stringify(scopes)}, account: account)`] : []),
  `guard let url = URL(string: ${JSON.stringify(url)}) else { return }`,
  "var request = URLRequest(url: url)",
  'request.setValue("Bearer \\(result.accessToken)", forHTTPHeaderField: "Authorization")',
  "let (data, response) = try await URLSession.shared.data(for: request)",
].join("\n");

const code = (title, text) => folded(title, false, Object.assign(element("pre", "", text), { tabIndex: 0 }), copyButton(t("portal.copy"), () => text));

/** Which properties came: those of the object, or of the first one of a collection. */
function properties(body) {
  const one = Array.isArray(body?.value) ? body.value[0] : body;
  return one && typeof one === "object" ? Object.keys(one).filter((name) => !name.startsWith("@")).join(", ") : "";
}

function answer({ status, request_id: id, ms, url, body, next, next_refused: isRefused }, scopes, more) {
  const isGood = status < 400;
  return [
    facts([
      [t("portal.status"), element("strong", isGood ? "good" : "bad", `${status} · ${isGood ? t("portal.succeeded") : t("portal.refused")}`)],
      [t("portal.call.address"), element("span", "mono", url)], [t("portal.request_id"), id],
      [t("portal.measured"), milliseconds(ms)], [t("portal.call.properties"), properties(body)],
    ]),
    ...(body == null ? [element("p", "quiet", t("portal.call.nothing"))] : [folded(t("portal.as_tree"), true, tree(body))]),
    ...(next ? [element("p", "buttons", button(t("portal.call.next"), more))] : []),
    ...(isRefused ? [element("p", "quiet", t("portal.call.next_refused"))] : []),
    code(t("portal.call.as_curl"), curl(url)), code(t("portal.call.as_swift"), swift(url, scopes)),
  ];
}

/** A permission that is missing is one press away. */
function refused(failure) {
  if (failure.code !== "consent_required" || !failure.signInURL) return explained(failure);
  const consent = signInButton(t("portal.call.consent"), failure.signInURL);
  return explained({ ...failure, message: failure.message, signInURL: null }, consent);
}

/** The form with its answer; nothing if the operator allows no API. */
export function callForm({ application, apis }) {
  if (apis.length === 0) return [];
  const choices = apis.flatMap(({ name, paths }) => paths.map(({ path, scopes }) => ({ api: name, path, scopes })));
  const box = statusBox();
  const result = element("div");
  const choice = Object.assign(element("select"), { className: "mono" });
  choice.append(...choices.map(({ api, path }, index) => new Option(`${api} ${path}`, index)));
  const form = Object.assign(element("form", "call"), { noValidate: true, autocomplete: "off" });
  const segments = element("div");
  const chosen = () => choices[choice.value];
  const showSegments = () => {
    const stars = chosen().path.split("/").filter((part) => part === "*").length;
    segments.replaceChildren(...Array.from({ length: stars }, (_, index) => {
      const input = element("input");
      const made = labelled("segment", input, index === 0 ? t("portal.call.segment_hint") : "");
      input.id = made.firstChild.htmlFor = `call-segment-${index}`;
      return made;
    }));
  };
  const inputs = Object.fromEntries(fields.map((name) => [name, element("input")]));
  inputs.top.inputMode = "numeric";
  const values = () => ({ choice: choice.value, segments: [...segments.querySelectorAll("input")].map(({ value }) => value.trim()), ...Object.fromEntries(fields.map((name) => [name, inputs[name].value.trim()])) });

  async function call(query) {
    result.replaceChildren();
    const { api, scopes } = chosen();
    const came = await get(`/api/${application.id}/call?${new URLSearchParams({ api, ...query })}`);
    result.replaceChildren(...answer(came, scopes, (pressed) => run(pressed, box, () => call({ path: came.next.path, next: came.next.query }), refused)));
  }

  const go = Object.assign(button(t("portal.call.go"), () => {}, "primary"), { type: "submit" });
  form.append(labelled("path", choice), segments, labelled("select", inputs.select, t("portal.call.select_hint")), labelled("top", inputs.top), labelled("filter", inputs.filter, t("portal.call.filter_hint")), element("p", "buttons", go));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = values();
    keep({ call: given });
    let index = 0;
    const path = chosen().path.split("/").map((part) => (part === "*" ? given.segments[index++] : part)).join("/");
    return run(go, box, () => call({ path, ...Object.fromEntries(fields.map((name) => [name, given[name]]).filter(([, value]) => value)) }), refused);
  });
  choice.addEventListener("change", showSegments);
  // After the trip for a permission the same call is at hand.
  const { call: last } = kept();
  if (last && choices[last.choice]) choice.value = last.choice;
  showSegments();
  if (last) {
    for (const name of fields) inputs[name].value = last[name] ?? "";
    for (const [index, input] of segments.querySelectorAll("input").entries()) input.value = last.segments[index] ?? "";
  }
  return [element("h3", "", t("portal.call.title")), element("p", "quiet", t("portal.call.note")), form, box, result];
}
