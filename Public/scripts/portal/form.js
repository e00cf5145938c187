// The settings of the next sign-in: the form, what of it survives the trip to the provider, the link that carries it.

import { app, leave, signInAddress } from "../base/api.js";
import { prompts } from "../base/case.js";
import { base, ofTab, t } from "../base/page.js";
import { copy, run } from "./parts.js";

const form = document.getElementById("form");
const sheet = document.getElementById("sheet");
const fields = form.elements;
const more = document.getElementById("more");
const claimsError = document.getElementById("claims-error");

/** A link may carry everything but the login hint. */
const linked = ["app", "policy", "prompt", "scope", "domain_hint", "tenant", "claims", "max_age", "acr_values"];
/** The claims whose requested values say nothing about a person. */
const impersonal = new Set(["acr", "acrs", "amr", "auth_time", "nbf", "xms_cc"]);

for (const hint of form.querySelectorAll("label + * + small")) {
  const field = hint.previousElementSibling;
  hint.id = `${field.id}-hint`;
  field.setAttribute("aria-describedby", hint.id);
}

let apps = [];

export const chosen = () => apps.find(({ id }) => id === fields.app.value);

/** The fields that were filled in and that the chosen application has. */
export function settings() {
  const isShown = (name) => !document.getElementById(`${name}-field`)?.hidden;
  return Object.fromEntries(
    [...new FormData(form)].map(([name, value]) => [name, value.trim()]).filter(([name, value]) => value && isShown(name)),
  );
}

// MARK: Kept in this tab

export const kept = () => ofTab.json("portal", {});
export const keep = (more) => ofTab.set("portal", JSON.stringify({ ...kept(), ...more }));
const keepSettings = () => keep({ settings: Object.fromEntries(new FormData(form)) });

// MARK: Showing

function fillSelect(select, ...options) {
  const before = select.value;
  select.replaceChildren(...options.map(([value, label = value]) => new Option(label, value)));
  setSelect(select, before);
}

function setSelect(select, value) {
  select.value = value ?? "";
  if (select.selectedIndex < 0) select.selectedIndex = 0;
}

/** Fills in settings; what they do not name is emptied. */
function fill(values) {
  fields.app.value = (apps.find(({ id }) => id === values.app) ?? apps[0]).id;
  show();
  for (const field of fields) {
    if (field.localName === "select") setSelect(field, values[field.name]);
    else if (field.name && field !== fields.app) field.value = values[field.name] ?? "";
  }
  show();
  const { domain_hint: domain, tenant, claims, max_age: age } = settings();
  more.open = Boolean(domain || tenant || claims || age);
}

/** Shows the fields of the chosen application, and only those, and the meaning of the chosen prompt. */
function show() {
  const { authority, kind, policies = [], prompt, scopes } = chosen();
  document.getElementById("where").textContent = `${authority} · ${scopes.join(" ")}`;
  document.getElementById("tenant-field").hidden = kind !== "workforce";
  document.getElementById("policy-field").hidden = kind !== "b2c";
  // A choice that is being made must not be made anew under the person's hand.
  if (form.dataset.shows !== fields.app.value) {
    form.dataset.shows = fields.app.value;
    fillSelect(fields.policy, ...policies.map((name) => [name]));
    fillSelect(fields.prompt, ["", t("portal.as_configured", { prompt: prompt ?? "if_necessary" })], ...prompts.map((name) => [name]));
  }
  document.getElementById("prompt-hint").textContent = t(`prompt.${fields.prompt.value || "configured"}`);
  const names = Object.keys(settings()).filter((name) => name !== "app" && name !== "policy");
  // Those that no field asks for come with an address.
  const labels = names.map((name) => form.querySelector(`[for="${name}"]`)?.textContent ?? name);
  document.getElementById("with").textContent = names.length > 0 ? t("portal.with", { settings: labels.join(", ") }) : "";
}

/** Shows what is wrong with the claims; returns whether they can be sent. */
function checkClaims() {
  let mistake = "";
  try {
    const value = JSON.parse(fields.claims.value.trim() || "{}");
    if (value?.constructor !== Object) mistake = t("portal.claims_no_object");
  } catch (error) {
    mistake = t("portal.claims_no_json", { reason: error.message });
  }
  claimsError.textContent = mistake;
  fields.claims.setAttribute("aria-invalid", String(mistake !== ""));
  if (mistake) more.open = true;
  return !mistake;
}

/** A claims request without the values that may name a person. */
export function impersonalClaims(text = "{}") {
  return JSON.stringify(JSON.parse(text), (name, value) => {
    if (value?.constructor !== Object || impersonal.has(name)) return value;
    return { ...value, value: undefined, values: undefined };
  });
}

/** Puts the authentication context into the claims request, as an essential claim of this token. */
function askContext(token) {
  const field = document.getElementById("context");
  const context = field.value.trim() || field.placeholder;
  claimsError.textContent = "";
  if (!/^c[1-9][0-9]?$/.test(context)) {
    claimsError.textContent = t("portal.context_wrong");
    return field.focus();
  }
  if (!checkClaims()) return fields.claims.focus();
  const claims = JSON.parse(fields.claims.value.trim() || "{}");
  claims[token] = { ...claims[token], acrs: { essential: true, value: context } };
  fields.claims.value = JSON.stringify(claims);
  keepSettings();
}

// MARK: Doing

/** The settings that a link carries, which say nothing about a person. */
function shareable() {
  const values = settings();
  if (values.claims) values.claims = impersonalClaims(values.claims);
  return Object.fromEntries(linked.filter((name) => values[name]).map((name) => [name, values[name]]));
}

const link = () => `${location.origin}${base}/${app}?${new URLSearchParams(shareable())}`;

/** Fills in the settings of an attempt, one of which is to be changed before it is tried again. */
export function retry(values) {
  const before = fields.app.value;
  fill(values);
  checkClaims();
  keepSettings();
  document.getElementById("changed").hidden = false;
  sheet.showModal();
  fields.prompt.focus();
  if (fields.app.value !== before) applicationChanged();
}

/** Chooses an application; the settings stay. */
export function choose(id) {
  fields.app.value = id;
  show();
  keepSettings();
  return applicationChanged();
}

let applicationChanged = async () => {};

/** Leaves for a sign-in with the settings of the form. */
function signIn() {
  keepSettings();
  const { app: id, ...values } = settings();
  return leave(signInAddress(values, id), { began: "sign-in" });
}

/** Runs what needs claims that can be sent; a mistake has to be seen. */
function checked(work) {
  if (checkClaims()) return work();
  if (!sheet.open) sheet.showModal();
  fields.claims.focus();
}

/** Starts the form with what the link, or else this tab, knows. */
export function startForm(known, address, onApplication) {
  apps = known;
  applicationChanged = onApplication;
  const isLink = linked.some((name) => address.has(name));
  fill(isLink ? Object.fromEntries(address) : kept().settings ?? {});
  if (isLink) forgetPerson();
  const changed = () => {
    if (claimsError.textContent) checkClaims();
    show();
    keepSettings();
  };
  // Software that fills in forms sends one event or the other.
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    checked(() => {
      sheet.close();
      return run(document.getElementById("sign-in"), null, signIn);
    });
  });
  document.getElementById("open-settings").addEventListener("click", () => sheet.showModal());
  document.getElementById("close-settings").addEventListener("click", () => sheet.close());
  // Beside the sheet.
  sheet.addEventListener("click", ({ target }) => target === sheet && sheet.close());
  sheet.addEventListener("close", () => (document.getElementById("changed").hidden = true));
  document.getElementById("copy-link").addEventListener("click", ({ currentTarget }) => checked(() => copy(currentTarget, link())));
  for (const each of form.querySelectorAll("[data-context]")) each.addEventListener("click", () => askContext(each.dataset.context));
  document.getElementById("clear").addEventListener("click", () => {
    fill({ app: fields.app.value });
    checkClaims();
    keepSettings();
  });
}

/** Neither a link nor a shared device may hand this to the next person. */
export function forgetPerson() {
  fields.login_hint.value = "";
  keepSettings();
}
