// The claims of the account's ID token, with what the well-known ones mean.

import { app, get } from "../base/api.js";
import { loadClaims, loadTable, personFirst } from "../base/claims-table.js";
import { element, t } from "../base/page.js";
import { light } from "./panels.js";

const place = element("div", "claims-place");

/**
 * Has the step that brought this account's tokens load their claims when they are asked for, unless it came after `end`. Where several
 * people have signed in, a refresh does not say for whom it was.
 */
export async function addClaims(events, account, end) {
  const { attempts } = await get("/api/attempts");
  const signIns = attempts.filter((each) => each.app === app && each.account === account.id).map(({ id }) => id);
  const brought = events.filter(({ step, outcome }) => step === "token" && ["ok", "refreshed"].includes(outcome));
  const own = brought.filter(({ outcome, attempt }) => outcome === "refreshed" || signIns.includes(attempt));
  const isSure = own.length === brought.length || own.every(({ outcome }) => outcome === "ok");
  const last = own.at(-1);
  if (signIns.length === 0 || !isSure || !last || last.time > end) return;
  last.claims = async (token) => loadTable((await get(`/api/${app}/tokens`))[token].payload);
}

/** Makes the panel's content. */
export function fill(box) {
  light({ step: "claims" });
  // It has nothing in it that keys could reach, and scrolls.
  box.tabIndex = 0;
  box.append(place);
}

/** Shows the claims of the account that is signed in, if one is. */
export async function update(account) {
  try {
    await loadClaims();
    const table = account ? await loadTable(personFirst(await get(`/api/${app}/claims`))) : element("p", "empty", t("claims.nobody"));
    place.replaceChildren(element("p", "what", t("claim.token")), table);
  } catch (failure) {
    place.replaceChildren(element("p", "empty", failure.message));
  }
}
