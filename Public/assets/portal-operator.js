// For the operator: whether all applications are well, and who has a session here.

import { app, get, send } from "./api.js";
import { element } from "./element.js";
import { ask } from "./portal-dialog.js";
import { keep, kept } from "./portal-form.js";
import { announce, button, dateTime, explained, run, signInButton, statusBox, table } from "./portal-parts.js";
import { signInAddress } from "./return-trip.js";
import { t } from "./strings.js";

/** No account is signed in to the portal itself, or one that may not see this; the server says who may. */
function refused(failure) {
  if (failure.code !== "interaction_required") return explained(failure);
  return element("div", "", element("p", "", t("portal.operator_only")), element("p", "buttons", signInButton(t("portal.sign_in_here"), signInAddress())));
}

// MARK: Health

const word = (isGood) => element("strong", isGood ? "good" : "bad", isGood ? t("portal.good") : t("portal.bad"));

const health = ({ title, authority, ok, checks }) => element("section", "",
  element("h4", "", `${title}: `, word(ok)),
  element("p", "quiet", authority),
  table([t("portal.check_title"), t("portal.outcome"), t("portal.detail")], checks.map((each) => [t(`portal.check.${each.check}`), word(each.ok), each.detail])),
);

// MARK: Sessions

function session({ key, created, last_seen: seen, accounts, current }, reload) {
  const who = accounts.map(({ app: id, username }) => `${username} (${id})`).join(", ") || t("portal.nobody");
  const made = element("li", "session");
  made.dataset.key = key;
  const box = statusBox();
  const end = async () => {
    await send(`/api/${app}/sessions/${encodeURIComponent(key)}`, { method: "DELETE" });
    announce(t("portal.revoked"));
    if (current) return reload();
    made.replaceChildren(Object.assign(element("p", "quiet", t("portal.revoked")), { tabIndex: -1 }));
    made.firstChild.focus();
  };
  const revoke = button(t("portal.revoke"), async (pressed) => {
    const question = element("p", "", current ? t("portal.revoke_own") : t("portal.revoke_sure", { who }));
    if (!(await ask(t("portal.revoke_title"), question, t("portal.revoke")))) return;
    // After a fresh sign-in the same session is at hand again.
    keep({ ending: key });
    await run(pressed, box, end);
    if (!box.hasChildNodes()) keep({ ending: null });
  }, "small danger");
  const times = element("p", "quiet", t("portal.session_times", { created: dateTime(created), seen: dateTime(seen) }));
  made.append(element("div", "", element("p", "", who, " ", ...(current ? [element("strong", "tag", t("portal.current"))] : [])), times), revoke, box);
  return made;
}

export async function view({ reload }) {
  const healthBox = statusBox();
  const sessionBox = statusBox();
  const results = element("div");
  const list = element("ul");
  const check = (pressed) => run(pressed, healthBox, async () => {
    const { apps } = await get(`/api/${app}/health`);
    results.replaceChildren(...apps.map(health));
    announce(apps.every(({ ok }) => ok) ? t("portal.good") : t("portal.bad"));
  }, refused);

  let next = null;
  const more = button(t("portal.more_sessions"), (pressed) => run(pressed, sessionBox, load, refused));
  async function load() {
    const answer = await get(`/api/${app}/sessions${next ? `?${new URLSearchParams({ after: next })}` : ""}`);
    next = answer.next;
    more.hidden = !next;
    list.append(...answer.sessions.map((each) => session(each, reload)));
  }
  // The session that was to be ended when the server asked for a fresh sign-in.
  const { ending } = kept();
  const chosen = () => [...list.children].find((each) => each.dataset.key === ending)?.querySelector("button");
  try {
    await load();
    while (ending && !chosen() && next) await load();
  } catch (failure) {
    return [refused(failure)];
  }
  keep({ ending: null });
  // When it is on the page.
  setTimeout(() => chosen()?.focus());
  return [
    element("h3", "", t("portal.health")),
    element("p", "quiet", t("portal.health_note")),
    element("p", "buttons", button(t("portal.check_health"), check)), healthBox, results,
    element("h3", "", t("portal.sessions")), list, element("p", "buttons", more), sessionBox,
  ];
}
