// Every page has these: the choice of the language at its foot, on a kiosk as buttons for fingers; a note while the device is offline, and
// its end on a shared device, which a kiosk has in its own way. In the demo, the bar of Learn and Portal tells the failures for everyone.

import { get, onApplications, onTold, post } from "./api.js";
import { element, isBlocked, isShared, language, leaving, loadTexts, t } from "./page.js";

const languages = {
  en: "English",
  "pt-PT": "Português (Portugal)",
  "pt-BR": "Português (Brasil)",
  sv: "Svenska",
  ja: "日本語",
  "zh-Hans": "简体中文",
};

const place = document.getElementById("language");
const mistake = document.createElement("span");
mistake.setAttribute("role", "status");

/** Keeps the choice, null for the browser's own, and shows the page in it. */
async function choose(tag) {
  mistake.textContent = "";
  try {
    await post("/api/language", { language: tag });
    location.reload();
  } catch (failure) {
    mistake.textContent = failure.message;
    throw failure;
  }
}

function buttons() {
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", t("common.language"));
  return Object.entries(languages).map(([tag, name]) => {
    const button = Object.assign(document.createElement("button"), { type: "button", lang: tag, textContent: name });
    button.setAttribute("aria-pressed", String(tag === language));
    button.addEventListener("click", () => choose(tag).catch(() => {}));
    return button;
  });
}

function menu() {
  const select = document.createElement("select");
  select.id = "language-choice";
  for (const [tag, name] of Object.entries(languages)) {
    const option = new Option(name, tag, tag === language, tag === language);
    option.lang = tag;
    select.append(option);
  }
  select.append(new Option(t("common.language_browser"), ""));
  select.addEventListener("change", () => choose(select.value || null).catch(() => (select.value = language)));
  return [Object.assign(document.createElement("label"), { htmlFor: select.id, textContent: t("common.language") }), select];
}

const isKiosk = place.dataset.as === "buttons";
place.append(...(isKiosk ? buttons() : menu()), mistake);

// MARK: Offline

function watchConnection() {
  const note = document.createElement("p");
  note.className = "offline";
  note.setAttribute("role", "status");
  document.body.prepend(note);
  const tell = () => (note.textContent = navigator.onLine ? "" : t("common.offline"));
  addEventListener("online", tell);
  addEventListener("offline", tell);
  tell();
}

/** A page says what cannot work where the browser blocks site data: a kiosk by itself. */
async function sayBlocked() {
  await loadTexts("blocked");
  const note = element("p", "offline", t(`blocked.${place.dataset.keeps ?? "sign_in"}`));
  note.id = "blocked";
  note.setAttribute("role", "status");
  document.body.prepend(note);
}

// MARK: The demo

/** Says which failures are set for everyone, as the page begins and whenever it comes into sight again. */
function tellFailures() {
  const rooms = document.querySelector(".topbar > .rooms");
  const line = element("p", "failures-set");
  line.setAttribute("role", "status");
  rooms.after(line);
  const show = async ({ demo_failures: failures = [] }) => {
    if (failures.length === 0) return line.replaceChildren();
    await loadTexts("failures");
    const names = failures.map(({ name }) => name).join(", ");
    const { length: count } = failures;
    const text = count > 1 ? t("failures.several", { count, names }) : t("failures.one", { names });
    const link = element("a", "", t("failures.see"));
    link.href = `${rooms.querySelector("a[href*='/control?']").href}#${count > 1 ? "now" : failures[0].place}`;
    line.replaceChildren(element("span", "", text), element("span", "", link));
  };
  const tryTo = (known) => show(known).catch(() => {});
  onApplications(tryTo);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") get("/api/apps").then(tryTo, () => {});
  });
}

// MARK: A shared device, and a kiosk

/** Empties the page, and ends what it has begun, which would not find its elements: answers and events by the signal, timers and frames. */
function empty() {
  leaving.abort();
  document.body.replaceChildren();
  // Their numbers count up, in every browser; time-outs and intervals share them.
  for (let timer = setTimeout(() => {}); timer > 0; timer--) clearTimeout(timer);
  for (let frame = requestAnimationFrame(() => {}); frame > 0; frame--) cancelAnimationFrame(frame);
}

/** The browser's Back button brings back nothing of a person: a page is emptied when it is left, and loads anew. */
function leaveNothing() {
  addEventListener("pagehide", empty);
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
}

/** A sign-out in another tab signs everybody out: what this page waits for would come as an error. It loads anew when that is over. */
function endWithOtherTabs() {
  let isWaiting = false;
  onTold(({ begins }) => {
    if (!begins) return isWaiting && location.reload();
    isWaiting = true;
    empty();
  });
  // The other tab may be gone before it has told the end.
  document.addEventListener("visibilitychange", () => isWaiting && document.visibilityState === "visible" && location.reload());
}

if (isShared || isKiosk) leaveNothing();
// A kiosk is one tab, and has its own way with the others.
if (isShared && !isKiosk) endWithOtherTabs();
if (!isKiosk) watchConnection();
if (document.querySelector(".rooms:has([aria-current]) ~ #demo:not(:empty)")) tellFailures();
if (!isKiosk && isBlocked()) sayBlocked().catch(() => {});
