// The account menu: who is signed in to this application in this browser; switch, add, take off the list.

import { app, get, send, tellOtherTabs } from "../base/api.js";
import { base, element, loadStyle, t } from "../base/page.js";

const menu = document.getElementById("accounts");
await loadStyle(`${base}/assets/styles/accounts.css`);

const list = element("ul");
const note = element("p", "empty");
note.setAttribute("role", "status");
const add = Object.assign(element("button", "add", t("accounts.add")), { type: "button", id: "add-account" });
const compare = Object.assign(element("a", "compare", t("accounts.compare")), { hidden: true });
menu.append(element("div", "menu-box", list, note, add, compare));

let actions = {};

const change = (path, method, { body = undefined, isGone = false } = {}) =>
  actions.run(async () => {
    note.textContent = "";
    try {
      await send(path, { method, body });
      tellOtherTabs();
      await actions.onSwitch({ isGone });
    } catch (failure) {
      note.textContent = failure.message;
    }
  });

function entry({ id, username, name, current, needs_sign_in: needsSignIn }) {
  const pick = Object.assign(element("button", "pick", element("span", "name", name ?? username), element("span", "username", username)), {
    type: "button",
  });
  if (current) pick.setAttribute("aria-current", "true");
  if (needsSignIn) pick.append(element("span", "needs", t("accounts.sign_in_again")));
  pick.addEventListener("click", () => change(`/api/${app}/account`, "PUT", { body: { id } }));
  const remove = Object.assign(element("button", "remove", t("accounts.remove")), { type: "button" });
  remove.setAttribute("aria-label", t("accounts.remove_label", { username }));
  remove.addEventListener("click", () => change(`/api/${app}/accounts/${encodeURIComponent(id)}`, "DELETE", { isGone: current }));
  return element("li", current ? "current" : "", pick, remove);
}

async function load() {
  const { accounts } = await get(`/api/${app}/accounts`);
  list.replaceChildren(...accounts.map(entry));
  menu.querySelector("summary").textContent = accounts.length > 1
    ? t("accounts.title_count", { count: accounts.length })
    : t("accounts.title");
  note.textContent = accounts.length === 0 ? t("accounts.nobody") : "";
  const portal = (await actions.known).apps?.find(({ page }) => page === "portal");
  compare.hidden = accounts.length < 2 || !portal;
  if (portal) compare.href = `${base}/${portal.id}?${new URLSearchParams({ app, tab: "attempts" })}`;
}

/** Shows the accounts as they are now; `does` is what the menu's choices do, and runs each as a flow. */
export async function showAccounts(does) {
  actions = does;
  await load().catch((failure) => (note.textContent = failure.message));
}

add.addEventListener("click", () => actions.onAdd?.(add));

document.addEventListener("click", (event) => {
  if (menu.open && !menu.contains(event.target)) menu.open = false;
});
menu.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
