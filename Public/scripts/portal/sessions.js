// Everybody's sessions, for the operator, who may end them.

import { app, get, send } from "../base/api.js";
import { element, t } from "../base/page.js";
import { ask } from "./dialog.js";
import { keep, kept } from "./form.js";
import { announce, button, dateTime, folded, refused, run, statusBox } from "./parts.js";

function session({ key, created, last_seen: seen, accounts, current }, mayEnd, reload) {
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
    const question = element("div", "", element("p", "", current ? t("portal.revoke_own") : t("portal.revoke_sure", { who })));
    // Sessions of the same people differ by nothing else.
    question.append(times.cloneNode(true));
    if (!(await ask(t("portal.revoke_title"), question, t("portal.revoke")))) return;
    // After a fresh sign-in the same session is at hand again.
    keep({ ending: key });
    await run(pressed, box, end);
    if (!box.hasChildNodes()) keep({ ending: null });
  }, "small danger");
  const times = element("p", "quiet", t("portal.session_times", { created: dateTime(created), seen: dateTime(seen) }));
  made.append(
    element("div", "", element("p", "", who, " ", ...(current ? [element("strong", "tag", t("portal.current"))] : [])), times),
    ...(mayEnd ? [revoke, box] : []),
  );
  return made;
}

export async function view({ reload }) {
  const box = statusBox();
  const list = element("ul");
  let next = null;
  const known = [];
  const made = new Map();
  const rest = folded("", false, element("ul"));
  // The server knows an order in which it gives them out, and not this one.
  const order = element("p", "quiet");
  const more = button(t("portal.more_sessions"), (pressed) => run(pressed, box, load, refused));
  async function load() {
    const answer = await get(`/api/${app}/sessions${next ? `?${new URLSearchParams({ after: next })}` : ""}`);
    next = answer.next;
    more.hidden = !next;
    known.push(...answer.sessions);
    // One's own, then the newest; what has no account is folded away below.
    known.sort((one, two) => two.current - one.current || Date.parse(two.last_seen) - Date.parse(one.last_seen));
    const row = (each) => made.get(each.key) ?? made.set(each.key, session(each, answer.may_end, reload)).get(each.key);
    const [used, unused] = [true, false].map((isUsed) =>
      known.filter(({ accounts, current }) => (accounts.length > 0 || current) === isUsed).map(row)
    );
    list.replaceChildren(...used);
    rest.hidden = unused.length === 0;
    rest.firstChild.textContent = t("portal.empty_sessions", { count: unused.length });
    rest.lastChild.replaceChildren(...unused);
    order.textContent = next ? t("portal.sessions_order", { count: known.length }) : "";
  }
  // The session that was to be ended when the server asked for a fresh sign-in.
  const { ending } = kept();
  const chosen = () => [...list.children, ...rest.lastChild.children].find((each) => each.dataset.key === ending)?.querySelector("button");
  try {
    await load();
    while (ending && !chosen() && next) await load();
  } catch (failure) {
    return [refused(failure)];
  }
  keep({ ending: null });
  // When it is on the page.
  setTimeout(() => chosen()?.focus());
  return [element("h2", "", t("portal.sessions")), order, list, rest, element("p", "buttons", more), box];
}
