// The way from a word or an error to the demo's mission that shows it.

import { base, element, t } from "./page.js";

const ofCause = {
  admin_consent: "administrator",
  consent: "consent",
  grant: "revoked",
  second_factor: "second_factor",
  server: "provider_down",
  unregistered: "redirect_uri",
};

/** The mission of a number of Entra ID that has this cause, if one shows it. */
export function missionOfNumber(number, cause) {
  if (!number?.startsWith("AADSTS")) return undefined;
  return number === "AADSTS650057" ? "permission" : ofCause[cause];
}

/** The bar's link to the failures that can be made, in the demo alone. */
export const failuresLink = document.querySelector('.rooms a[href*="/control?ui_locales="]');

/** A link to a place of a tutorial's page, in the demo alone, on a page that has the texts of `problem`. */
export function seeIt(fragment, page = "ios") {
  if (!failuresLink) return [];
  return [element("p", "", Object.assign(element("a", "", t("problem.see_it")), { href: `${base}/${page}#${fragment}` }))];
}

/** A link to a mission, if there is one. */
export const missionLink = (mission, page) => mission ? seeIt(`mission=${mission}`, page) : [];
