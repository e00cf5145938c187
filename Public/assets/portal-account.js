// Who is signed in to the chosen application: the account, the ID token's claims explained, signing out.

import { get, post } from "./api.js";
import { claimsTable, loadClaims } from "./claims-table.js";
import { element, t } from "./page.js";
import { forgetPerson } from "./portal-form.js";
import { copyJSON } from "./portal-json.js";
import { button, copyButton, explained, facts, run, statusBox } from "./portal-parts.js";
import { leaveForSignOut } from "./return-trip.js";

const claimsWithCopy = (claims) => element("div", "", claimsTable(claims), element("p", "buttons", copyJSON(claims)));

export async function view({ application, account, mode, reload }) {
  const { id } = application;
  await loadClaims();
  const box = statusBox();
  const signOut = (label, browser) => button(label, (pressed) => run(pressed, box, async () => {
    const { redirect } = await post(`/auth/${id}/sign-out`, { browser });
    if (mode === "shared") forgetPerson();
    return redirect ? leaveForSignOut(redirect) : reload();
  }));
  return [
    facts([
      [t("portal.username"), account.username], [t("portal.name"), account.name], [t("portal.tenant_id"), account.tenant_id],
      [t("portal.environment"), account.environment], [t("portal.home_account_id"), account.id],
    ]),
    element("p", "buttons", copyButton(t("portal.copy_id"), () => account.id), signOut(t("portal.sign_out"), false), signOut(t("portal.sign_out_browser"), true)),
    box,
    element("h3", "", t("panel.claims")),
    await get(`/api/${id}/claims`).then(claimsWithCopy, (failure) => explained(failure)),
  ];
}
