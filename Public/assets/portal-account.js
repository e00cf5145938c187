// Who is signed in to the chosen application: the account, the ID token's claims explained, signing out.

import { get, post } from "./api.js";
import { claimsTable, loadClaims } from "./claims-table.js";
import { element, t } from "./page.js";
import { forgetPerson } from "./portal-form.js";
import { copyJSON } from "./portal-json.js";
import { button, copyButton, explained, facts, run, statusBox } from "./portal-parts.js";
import { stepUp } from "./portal-step-up.js";
import { leaveForSignOut } from "./return-trip.js";

const claimsWithCopy = (claims) => element("div", "", claimsTable(claims), element("p", "buttons", copyJSON(claims)));

/** Why the account may sign in, and where its groups and app roles came from. */
function admission({ rule, groups, roles, portal_role: role }, isPortal) {
  const listed = (names) => names.join(", ") || t("portal.admission.nothing");
  return facts([
    [t("portal.admission.rule"), t(`portal.admission.rule.${rule.kind}`, { value: rule.value ?? "" })],
    [t("portal.admission.groups_from"), t(`portal.admission.source.${groups.source ?? "none"}`, { count: groups.count ?? "" })],
    [t("portal.admission.groups"), listed(groups.named)],
    [t("portal.admission.roles"), listed(roles)],
    ...(isPortal ? [[t("portal.admission.portal_role"), role ? t(`portal.admission.portal_role.${role}`) : t("portal.admission.nothing")]] : []),
  ]);
}

export async function view({ application, account, mode, tokenDisplay, reload }) {
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
    ...await stepUp(application, account, { mode, tokenDisplay }),
    element("h3", "", t("portal.admission.title")),
    await get(`/api/${id}/admission`).then((answer) => admission(answer, application.page === "portal"), (failure) => explained(failure)),
    element("h3", "", t("panel.claims")),
    await get(`/api/${id}/claims`).then(claimsWithCopy, (failure) => explained(failure)),
  ];
}
