// The next interactive sign-in may ask for more than usual: prompt, hints, scopes, claims; and where Sign Out signs out.

import { known, signOutChoice } from "./flow.js";
import { prompts } from "../base/case.js";
import { element, loadTexts, t } from "../base/page.js";
import { promptTypes } from "../base/project.js";

function field(id, label, control, hint) {
  control.id = `option-${id}`;
  control.name = id;
  const tag = Object.assign(element("label", "", label), { htmlFor: control.id });
  return element("p", "field", tag, control, element("small", "", hint));
}

function text(id, label, hint) {
  const input = Object.assign(element("input"), { type: "text", autocomplete: "off", spellcheck: false });
  return field(id, label, input, hint);
}

/** The effect of a prompt type, after MSAL's name of it. */
function promptMeaning(prompt) {
  const name = promptTypes[prompt] ? `MSALPromptType.${promptTypes[prompt]}` : prompt === "none" ? t("options.prompt_unknown") : null;
  return [name, t(`prompt.${prompt || "configured"}`)].filter(Boolean).join(": ");
}

function isObject(text) {
  try {
    return !text.trim() || JSON.parse(text)?.constructor === Object;
  } catch {
    return false;
  }
}

/** Makes the panel's content; the sign-in reads the form when it begins. */
export async function fill(box) {
  await Promise.all([loadTexts("options"), loadTexts("prompt")]);
  const select = element("select");
  select.append(
    new Option(t("options.prompt.configured"), ""),
    ...prompts.map((prompt) => new Option(t(`options.prompt.${prompt}`), prompt)),
  );
  const form = Object.assign(element("form", "options"), { id: "sign-in-options" });
  form.append(
    field("prompt", t("options.prompt"), select, ""),
    text("login_hint", t("options.login_hint"), t("options.login_hint_hint")),
    text("tenant", t("options.tenant"), t("options.tenant_hint")),
    text("domain_hint", t("options.domain_hint"), t("options.domain_hint_hint")),
    text("scope", t("options.scope"), t("options.scope_hint")),
    text("claims", t("options.claims"), t("options.claims_hint")),
    element("p", "", Object.assign(element("button", "small", t("options.clear")), { type: "reset" })),
  );
  const meaning = form.querySelector("#option-prompt + small");
  const explain = () => (meaning.textContent = promptMeaning(select.value));
  select.addEventListener("change", explain);
  form.addEventListener("reset", () => setTimeout(explain));
  explain();
  // A part of a URL's path (RFC 3986, section 3.3), which is all that the tutorials' URL(string:) takes.
  form.elements.tenant.pattern = "\\s*[A-Za-z0-9._~\\-]*\\s*";
  const { claims } = form.elements;
  claims.addEventListener("input", () => claims.setCustomValidity(isObject(claims.value) ? "" : t("options.claims_no_object")));
  form.addEventListener("reset", () => claims.setCustomValidity(""));
  form.addEventListener("submit", (event) => event.preventDefault());
  box.append(form);
  // The B2C sample removes its account without MSALSignoutParameters.
  if (document.body.dataset.page !== "b2c") box.append(signOutForm((await known).mode === "shared"));
}

/** Where Sign Out signs out; on a shared device there is no choice. */
function signOutForm(isShared) {
  const select = Object.assign(element("select"), { disabled: isShared });
  select.append(...["app", "browser"].map((value) => new Option(t(`options.sign_out.${value}`), value)));
  select.value = signOutChoice.get();
  const form = Object.assign(element("form", "options"), { id: "sign-out-options" });
  form.append(field("sign_out", t("options.sign_out"), select, ""));
  const meaning = form.querySelector("small");
  const explain = () => {
    const line = element("code", "", `signoutParameters.signoutFromBrowser = ${select.value === "browser"}`);
    meaning.replaceChildren(line, " ", isShared ? t("options.sign_out_shared") : t(`options.sign_out_hint.${select.value}`));
  };
  select.addEventListener("change", () => {
    signOutChoice.set(select.value);
    explain();
  });
  explain();
  return form;
}
