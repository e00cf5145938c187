// The registrations: what fails and what ends first, who is signed in, the last failure. A press shows one of them beside the list.

import { get } from "../base/api.js";
import { element, finding, t } from "../base/page.js";
import { byTitle, distinct, isFailing, marks, summaryOf, worstFirst } from "../base/registration.js";
import { choose } from "./form.js";
import { announce, button, refused, run, statusBox } from "./parts.js";

/** People look through as many as this by eye; of more, a field finds those with a name. */
const many = 8;

const list = document.getElementById("list");
const rows = document.getElementById("registrations");
const summary = document.getElementById("summary");
const opener = document.getElementById("open-list");
const noneFound = document.getElementById("none-found");

/** As the server has said it: `apps`, and for operators and readers `role` and `checked_at`. */
let known;
let matches = (_) => true;
/** The registration beside the list; null where something else is. */
let current = null;

const isListed = ({ page }) => page !== "kiosk" || known.mode === "shared";

/** The registrations in the list's order. The preview of a kiosk has a page of its own. */
export function listed(answer) {
  known = { ...answer, apps: distinct(answer.apps) };
  const apps = known.apps.filter(isListed);
  return worstFirst(apps.length > many ? byTitle(apps) : apps);
}

// MARK: The rows

function row(each) {
  const { id, title, authority, signed_in_as: username } = each;
  const who = username ? [element("span", "who in", username)] : [];
  const made = element(
    "button",
    "registration",
    element("b", "", title),
    ...marks(each, known.checked_at),
    ...who,
    element("span", "mono", authority.replace("https://", "")),
  );
  Object.assign(made, { type: "button", ariaCurrent: String(id === current) });
  made.dataset.app = id;
  made.addEventListener("click", () => {
    choose(id);
    closeList();
  });
  const item = element("li", "", made);
  item.hidden = !matches(`${made.textContent} ${id}`);
  return item;
}

export function drawList() {
  const focused = list.contains(document.activeElement) && document.activeElement instanceof HTMLElement &&
    document.activeElement.dataset.app;
  const apps = listed(known);
  rows.replaceChildren(...apps.map(row));
  noneFound.textContent = [...rows.children].some((each) => each instanceof HTMLElement && !each.hidden) ? "" : t("portal.none_found");
  opener.textContent = t("portal.registrations_of", { count: apps.length });
  summary.hidden = checks.hidden = !known.role;
  summary.replaceChildren(...summaryOf(known));
  if (focused) /** @type {HTMLElement | null} */ (rows.querySelector(`[data-app="${CSS.escape(focused)}"]`))?.focus();
}

/** Marks the registration that is shown beside the list. */
export function showCurrent(id) {
  current = id;
  drawList();
}

/** Asks the server again, as after a check and a sign-out. */
export async function refreshList() {
  listed(await get("/api/apps"));
  drawList();
}

/** Whether a registration fails, as the list says it. */
export const fails = (id) => known.apps.some((each) => each.id === id && isFailing(each));

/** Says who is signed in to a registration, as its account was just read. */
export function showAccount(id, username) {
  const each = known.apps.find((one) => one.id === id);
  if (each.signed_in_as === username) return;
  each.signed_in_as = username;
  drawList();
}

// MARK: The check of all

const box = statusBox();
const progress = element("div");

/** Draws what is beside the list again, where it is about checks. */
let drawChecked;

const check = (pressed) =>
  run(pressed, box, async () => {
    const { changesOf, checkAll } = await import("./health.js");
    const apps = known.apps.filter(isListed);
    const titleOf = (id) => apps.find((each) => each.id === id)?.title ?? id;
    try {
      const found = await checkAll(apps.map(({ id }) => id), progress);
      progress.replaceChildren(...changesOf(found, titleOf));
    } catch (failure) {
      progress.replaceChildren();
      throw failure;
    }
    await Promise.all([refreshList(), drawChecked()]);
    announce(summary.textContent);
  }, refused);

const checks = element("div", "", element("p", "buttons", button(t("portal.check_all"), check)), box, progress);

// MARK: Start

/** Where the window is narrow, the list opens over what is beside it. */
function openList(isOpen) {
  list.classList.toggle("open", isOpen);
  opener.ariaExpanded = String(isOpen);
}

/** Closes it after a press in it, which must not lose the focus. */
export function closeList() {
  openList(false);
  if (opener.checkVisibility()) opener.focus();
}

/** A field that finds registrations by words. */
function finder() {
  const field = Object.assign(element("input", "narrow"), {
    type: "search",
    placeholder: t("portal.narrow"),
    ariaLabel: t("portal.narrow"),
  });
  field.addEventListener("input", () => {
    matches = finding(field.value);
    drawList();
  });
  field.addEventListener("keydown", ({ key }) => {
    const first = rows.querySelector("li:not([hidden]) button");
    if (key === "Enter" && field.value.trim() && first instanceof HTMLElement) first.click();
  });
  return field;
}

/** Draws the list; a check of all calls `onChecked` when it is done. */
export function startList(onChecked) {
  drawChecked = onChecked;
  if (known.apps.filter(isListed).length > many) rows.before(finder());
  summary.after(checks);
  opener.addEventListener("click", () => openList(!list.classList.contains("open")));
  drawList();
}
