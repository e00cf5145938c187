// Who is signed in to the chosen application, why, and signing out.

import { get, leaveForSignOut, postSignOut, tellOtherTabs } from "../base/api.js";
import { element, t } from "../base/page.js";
import { forgetPerson } from "./form.js";
import { button, explained, facts, run } from "./parts.js";
import { stepUp } from "./step-up.js";

/** It stays where the view is drawn anew. */
const outcome = document.getElementById("outcome");

/** The reason why the account may sign in, and the origin of its groups and app roles. */
function admission({ rule, groups, roles, portal_role: role }, isPortal) {
  const listed = (names) => names.join(", ") || t("portal.admission.nothing");
  return facts([
    [t("portal.admission.rule"), t(`portal.admission.rule.${rule.kind}`, { value: rule.value ?? "" })],
    [t("portal.admission.groups_from"), t(`portal.admission.source.${groups.source ?? "none"}`, { count: groups.count ?? "" })],
    [t("portal.admission.groups"), listed(groups.named)],
    [t("portal.admission.roles"), listed(roles)],
    ...(isPortal
      ? [[t("portal.admission.portal_role"), role ? t(`portal.admission.portal_role.${role}`) : t("portal.admission.nothing")]]
      : []),
  ]);
}

/** Said before a sign-out and after it. */
const keptSession = () => element("p", "", t("panel.provider_keeps_session"));

export async function view({ application, account, mode, tokenDisplay, reload, open }) {
  const { id } = application;
  const signOut = (label, browser) =>
    button(label, (pressed) =>
      run(pressed, outcome, async () => {
        const { redirect, provider_keeps_session: isKept } = await postSignOut(`/auth/${id}/sign-out`, { browser });
        if (mode === "shared") forgetPerson();
        tellOtherTabs();
        if (redirect) return leaveForSignOut(redirect);
        await reload();
        if (isKept) outcome.append(keptSession());
      }));
  return [
    facts([
      [t("portal.username"), account.username],
      [t("portal.name"), account.name],
      [t("portal.tenant_id"), account.tenant_id],
      [t("portal.home_account_id"), account.id],
    ]),
    element(
      "p",
      "buttons",
      signOut(t("portal.sign_out"), false),
      signOut(t("portal.sign_out_browser"), true),
      button(t("portal.compare_people"), () => open("attempts")),
    ),
    ...(account.provider_keeps_session ? [keptSession()] : []),
    ...await stepUp(application, account, { mode, tokenDisplay }),
    element("h3", "", t("portal.admission.title")),
    await get(`/api/${id}/admission`).then((answer) => admission(answer, application.page === "portal"), (failure) => explained(failure)),
  ];
}
