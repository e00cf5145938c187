// What the next interactive sign-in asks for beyond the usual: prompt, hints, scopes, claims.

import { addPanel, element } from "./panel.js";

const { box } = addPanel("options", "Sign-in options");

const prompts = {
  "": "As the application has it",
  if_necessary: "If necessary",
  select_account: "Select account",
  login: "Login: always the password",
  consent: "Consent",
  create: "Create an account",
  none: "None: check single sign-on",
};

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

const select = element("select");
select.append(...Object.entries(prompts).map(([value, label]) => Object.assign(element("option", "", label), { value })));

const form = element("form", "options");
form.append(
  field("prompt", "Prompt", select, "What the provider shows."),
  text("login_hint", "Login hint", "The username to sign in. Not together with Select account."),
  text("tenant", "Tenant", "Another organization's ID or domain, where the account is a guest (Entra ID only)."),
  text("domain_hint", "Domain hint", "Skips the question which organization."),
  text("scope", "Further scopes", "Permissions to ask for beyond the configured ones, with spaces between them."),
  text("claims", "Claims", "A claims request, as JSON."),
  element("p", "", Object.assign(element("button", "small", "Clear"), { type: "reset" })),
);
form.addEventListener("submit", (event) => event.preventDefault());
box.append(form);

/** The fields that were filled in. */
export function signInOptions() {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value));
}
