// The settings of the next sign-in: the form, what of it survives the trip to the provider, the link that carries it.

import { app } from "../base/api.js";
import { base, t } from "../base/page.js";
import { byTitle, copy, finder, many, run } from "./parts.js";
import { leave, signInAddress } from "../base/return-trip.js";
import { ofTab } from "../base/storage.js";

const form = document.getElementById("form");
const fields = form.elements;
const more = document.getElementById("more");
const claimsError = document.getElementById("claims-error");

/** A link may carry everything but the login hint. */
const linked = ["app", "policy", "prompt", "scope", "domain_hint", "tenant", "claims", "max_age", "acr_values"];
const prompts = ["if_necessary", "select_account", "login", "consent", "create", "none"];
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

/** Ends the search among many applications. */
let showAll = () => {};

/** Fills in settings; what they do not name is emptied. */
function fill(values) {
  showAll();
  setSelect(fields.app, values.app);
  show();
  for (const field of fields) {
    if (field.localName === "select") setSelect(field, field === fields.app ? field.value : values[field.name]);
    else if (field.name) field.value = values[field.name] ?? "";
  }
  show();
  const { domain_hint: domain, tenant, claims, max_age: age, acr_values: acr } = settings();
  more.open = Boolean(domain || tenant || claims || age || acr);
}

/** Shows the fields of the chosen application, and only those, and the meaning of the chosen prompt. */
function show() {
  const { authority, kind, policies = [], prompt, scopes } = chosen();
  document.getElementById("app-hint").textContent = `${authority} · ${scopes.join(" ")}`;
  document.getElementById("tenant-field").hidden = kind !== "workforce";
  document.getElementById("policy-field").hidden = kind !== "b2c";
  // A choice that is being made must not be made anew under the person's hand.
  if (form.dataset.shows !== fields.app.value) {
    form.dataset.shows = fields.app.value;
    fillSelect(fields.policy, ...policies.map((name) => [name]));
    fillSelect(fields.prompt, ["", t("portal.as_configured", { prompt: prompt ?? "if_necessary" })], ...prompts.map((name) => [name]));
  }
  document.getElementById("prompt-hint").textContent = t(`prompt.${fields.prompt.value || "configured"}`);
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

/** Fills in settings from elsewhere, as from an attempt that is tried again; `isRetry` says that one of them is to be changed. */
export function refill(values, { isRetry = false } = {}) {
  const before = fields.app.value;
  fill(values);
  checkClaims();
  keepSettings();
  document.getElementById("changed").hidden = !isRetry;
  openSheet(true);
  fields.prompt.focus();
  if (fields.app.value !== before) applicationChanged();
}

let applicationChanged = () => {};

// MARK: The sheet, where the window is narrow

const sheetButton = document.getElementById("open-settings");

/** Results come first on a phone; the settings are a sheet over them. */
export function openSheet(isOpen) {
  form.classList.toggle("open", isOpen);
  sheetButton.setAttribute("aria-expanded", String(isOpen));
}

sheetButton.addEventListener("click", () => {
  openSheet(!form.classList.contains("open"));
  if (form.classList.contains("open")) fields.app.focus();
});
document.getElementById("dock-sign-in").addEventListener("click", () => form.requestSubmit());
addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || !form.classList.contains("open")) return;
  openSheet(false);
  if (sheetButton.checkVisibility()) sheetButton.focus();
});
document.getElementById("result").addEventListener("pointerdown", () => openSheet(false));

/** Leaves for a sign-in with the settings of the form. */
function signIn() {
  keepSettings();
  const { app: id, ...values } = settings();
  return leave(signInAddress(values, id), { began: "sign-in" });
}

/** Runs what needs claims that can be sent. */
const checked = (work) => (checkClaims() ? work() : fields.claims.focus());

const option = ({ id, title }) => [id, `${title} · ${id}`];

/** Finds one of many applications: while there are words in the field, what has them is a list to choose from. */
function findApplications() {
  const field = finder((matches, isWanted) => {
    const found = isWanted ? apps.filter((each) => matches(option(each).join(" "))) : apps;
    const current = chosen();
    // The chosen one stays so until another is.
    fillSelect(fields.app, ...[...new Set([...found, current])].map(option));
    if (isWanted) fields.app.size = Math.min(6, found.length + 2);
    else fields.app.removeAttribute("size");
  });
  showAll = () => {
    if (!field.value) return;
    field.value = "";
    field.dispatchEvent(new Event("input"));
  };
  fields.app.before(field);
  fields.app.addEventListener("change", showAll);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && field.value) {
      event.stopPropagation();
      showAll();
    }
    if (!["ArrowDown", "Enter"].includes(event.key)) return;
    event.preventDefault();
    if (field.value) fields.app.focus();
  });
}

/** Starts the form with what the link, or else this tab, knows. */
export function startForm(known, address, onApplication) {
  apps = known.length > many ? byTitle(known) : known;
  applicationChanged = onApplication;
  fillSelect(fields.app, ...apps.map(option));
  if (apps.length > many) findApplications();
  const isLink = linked.some((name) => address.has(name));
  fill(isLink ? Object.fromEntries(address) : kept().settings ?? {});
  if (isLink) forgetPerson();
  const changed = ({ target, type }) => {
    if (claimsError.textContent) checkClaims();
    show();
    keepSettings();
    if (target === fields.app && type === "change") onApplication();
  };
  // Software that fills in forms sends one event or the other.
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    // A mistake has to be seen.
    if (!checkClaims()) openSheet(true);
    checked(() => run(document.getElementById("sign-in"), null, signIn));
  });
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
