// The claims of the account's ID token, with what the well-known ones mean.

import { app, get } from "./api.js";
import { claimsTable, loadClaims } from "./claims-table.js";
import { element, t } from "./page.js";
import { light } from "./panels.js";

const place = element("div", "claims-place");

/** Makes the panel's content. */
export async function fill(box) {
  await loadClaims();
  light({ step: "claims" });
  box.append(place);
}

/** Shows the claims of the account that is signed in, if one is. */
export async function update(account) {
  try {
    place.replaceChildren(account ? claimsTable(await get(`/api/${app}/claims`)) : element("p", "empty", t("claims.nobody")));
  } catch (failure) {
    place.replaceChildren(element("p", "empty", failure.message));
  }
}
