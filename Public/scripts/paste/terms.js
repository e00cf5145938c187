// A word alone in the paste box: what it means and where this server shows it; for one that is not explained, what the box can read.

import { button } from "../base/buttons.js";
import { missionLink, seeIt } from "../base/mission-link.js";
import { base, element, t } from "../base/page.js";
import { kinds, termsIn } from "./kinds.js";

/** The meaning of a term alone, of those that the tables have, and the name below which it was found. */
function explained(text) {
  for (const name of termsIn(text)) {
    const meaning = t(`paste.term.${name}`) || t(`parameter.${name}`) || t(`response.${name}`) || t(`claim.${name}`);
    if (meaning) return { name, meaning };
  }
  return undefined;
}

/** Whether a text is a term that is explained. */
export const isTerm = (text) => explained(text) !== undefined;

/** Whether a text is a word or a few, and no piece of a log. */
export const isWord = (text) => text.trim().length <= 60 && !/[\n{}<>=]/.test(text.trim());

/** The demo's missions in which a term can be seen. */
const missionOf = {
  access_token: "token_ends",
  admin_consent: "administrator",
  cae: "second_factor",
  claims_challenge: "second_factor",
  code_challenge: "first_sign_in",
  code_challenge_method: "first_sign_in",
  code_verifier: "first_sign_in",
  conditional_access: "second_factor",
  consent: "consent",
  cp1: "second_factor",
  keychain: "keychain",
  nonce: "first_sign_in",
  pkce: "first_sign_in",
  redirect_uri: "redirect_uri",
  refresh_token: "revoked",
  second_factor: "second_factor",
  silent: "token_ends",
};

/** The terms that are seen in the claims of one's own token. */
const ofClaims = new Set(["id_token", "token"]);

/** The pages of this server's own words. */
const pageOf = { case: "portal", kiosk: "kiosk", logo: "kiosk", portal: "portal" };

/** The card of a term, with a link to where this server shows it; to one of its pages once its applications are known. */
export function termCard(text, known, put) {
  const found = explained(text);
  if (!found) return unknownCard(text, put);
  const card = element(
    "section",
    "card",
    element("h3", "", text.trim()),
    element("p", "", found.meaning),
    ...(ofClaims.has(found.name) ? seeIt("claims") : missionLink(missionOf[found.name])),
  );
  known.then(({ apps }) => {
    const app = apps.find(({ page }) => page === pageOf[found.name]);
    if (app) card.append(element("p", "", Object.assign(element("a", "", app.title), { href: `${base}/${app.id}` })));
  });
  return card;
}

const words = ["PKCE", "nonce", "consent", "claims challenge", "redirect URI", "refresh token"];

function unknownCard(text, put) {
  const read = kinds.filter((each) => each !== "term").map((each) => t(`paste.kind.${each}`)).join(" · ");
  const tries = words.map((word) => Object.assign(button(word, () => put(word)), { lang: "en", className: "" }));
  return element(
    "section",
    "card",
    element("p", "", t("paste.unknown", { word: text.trim().slice(0, 60) })),
    element("p", "", read),
    element("p", "examples", element("span", "", t("paste.try_word")), ...tries),
  );
}
