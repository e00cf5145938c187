// The claims of the account's ID token, with what the well-known ones mean.

import { app, get } from "./api.js";
import { addPanel, addTable, element } from "./panel.js";

const { panel, box } = addPanel("claims", "Claims of the ID token");
const empty = element("p", "empty", "Nobody is signed in.");
box.append(empty);
const { table, body } = addTable(box, "Claim", "Value", "What it says");
table.hidden = true;

const meanings = {
  acr: "How, or in which user flow, the person signed in.",
  amr: "The methods of the sign-in, as a password or a second factor.",
  aud: "Who the token is for: this application's client ID.",
  auth_time: "When the person last proved who they are.",
  azp: "The application that asked for the token.",
  email: "An e-mail address. It can change: never a key.",
  exp: "Until when the token is valid.",
  family_name: "The surname.",
  given_name: "The first name.",
  groups: "The groups that the person is a member of.",
  iat: "When the token was issued.",
  idp: "The identity provider that vouches for the person.",
  iss: "Who issued the token: the tenant's authority.",
  login_hint: "An opaque hint that signs this account out without asking which one.",
  name: "The name to show. Neither unique nor unchanging.",
  nbf: "From when the token is valid.",
  oid: "The person's object in the tenant: together with tid, the key for their data.",
  preferred_username: "The username to show. It can change: never a key.",
  rh: "For the platform's own use.",
  roles: "The roles that the person has in this application.",
  sid: "The session at the provider, by which it signs out everywhere.",
  sub: "Who it is, for this application alone.",
  tfp: "The B2C user flow that issued the token.",
  tid: "The tenant in which the person signed in.",
  uti: "The token's own identifier, for the platform's support.",
  ver: "The version of the token's format.",
};

const times = new Set(["auth_time", "exp", "iat", "nbf"]);

function readable(name, value) {
  if (times.has(name) && typeof value === "number" && value > 0) return `${value} (${new Date(value * 1000).toLocaleString()})`;
  return typeof value === "string" ? value : JSON.stringify(value);
}

let current;

async function load() {
  if (!panel.open) return;
  let rows = [];
  empty.textContent = "Nobody is signed in.";
  if (current) {
    try {
      const claims = await get(`/api/${app}/claims`);
      rows = Object.entries(claims).map(([name, value]) => element("tr", "",
        element("td", "mono", name), element("td", "mono value", readable(name, value)), element("td", "meaning", meanings[name] ?? "")));
    } catch (failure) {
      empty.textContent = failure.message;
    }
  }
  body.replaceChildren(...rows);
  empty.hidden = rows.length > 0;
  table.hidden = rows.length === 0;
}

/** Shows this account's claims, when the panel is open. */
export function updateClaims(account) {
  current = account;
  return load();
}

panel.addEventListener("toggle", load);
