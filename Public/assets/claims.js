// The claims of the account's ID token, with what the well-known ones mean.

import { app, get } from "./api.js";
import { explainClaim, loadClaimMeanings } from "./claim-meanings.js";
import { element } from "./element.js";
import { addTable } from "./panel.js";
import { language, loadTexts, t } from "./strings.js";

const times = new Set(["auth_time", "exp", "iat", "nbf"]);

function readable(name, value) {
  if (times.has(name) && typeof value === "number" && value > 0) return `${value} (${new Date(value * 1000).toLocaleString(language)})`;
  return typeof value === "string" ? value : JSON.stringify(value);
}

const empty = element("p", "empty");
let table, body;

/** Makes the panel's content. */
export async function fill(box) {
  await Promise.all([loadTexts("claims"), loadClaimMeanings()]);
  box.append(empty);
  ({ table, body } = addTable(box, t("claims.claim"), t("claims.value"), t("claims.meaning")));
}

/** Shows the claims of the account that is signed in, if one is. */
export async function update(account) {
  let rows = [];
  empty.textContent = t("claims.nobody");
  if (account) {
    try {
      const claims = await get(`/api/${app}/claims`);
      rows = Object.entries(claims).map(([name, value]) => element("tr", "",
        element("td", "mono", name), element("td", "mono value", readable(name, value)), element("td", "meaning", explainClaim(name))));
    } catch (failure) {
      empty.textContent = failure.message;
    }
  }
  body.replaceChildren(...rows);
  empty.hidden = rows.length > 0;
  table.hidden = rows.length === 0;
}
