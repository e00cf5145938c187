// The home page: who is signed in, and on a team's, how each registration is, for those who may know. All else is in the page.

import { get, onForeground, resumeTrip } from "./api.js";
import { base, element, finding, loadTexts, t } from "./page.js";

resumeTrip();

const state = document.getElementById("state");
const team = document.getElementById("team");
const signedIn = document.getElementById("signed-in");

function show(place, text, isSignedIn) {
  if (!place) return;
  place.className = isSignedIn ? "who in" : "who";
  place.textContent = text;
}

/** A team's registrations, as those who may know see them: what fails and what ends first; each state leads to the portal. */
async function showRegistrations(known) {
  const summary = document.getElementById("summary");
  summary.hidden = !known.role;
  for (const old of team.querySelectorAll(".marks")) old.remove();
  const { distinct, marks, summaryOf, tabOf, worstFirst } = await import("./registration.js");
  const linkOf = (id) => document.querySelector(`[data-app="${id}"] h3 a`);
  for (const { id, title } of distinct(known.apps)) {
    const link = linkOf(id);
    if (!link) continue;
    link.textContent = title;
    // The page itself is for those who have no role, as after a sign-out.
    link.href = link.dataset.page ??= link.href;
  }
  if (!known.role) return;
  await loadTexts("registration");
  summary.replaceChildren(...summaryOf(known));
  const portal = known.apps.find(({ page }) => page === "portal").id;
  for (const each of worstFirst(known.apps)) {
    const card = document.querySelector(`[data-app="${each.id}"]`);
    const found = marks(each, known.checked_at);
    const address = `${base}/${portal}?app=${each.id}`;
    // The portal does not list a kiosk's preview.
    if (each.page !== "kiosk") linkOf(each.id).href = address;
    const link = Object.assign(element("a", "marks", ...found), { href: `${address}&tab=${tabOf(each)}` });
    if (found.length > 0) card.querySelector(".foot").append(link);
    card.parentElement.append(card);
  }
}

async function load() {
  const known = await get("/api/apps");
  const { apps } = known;
  state.hidden = true;
  if (team) await showRegistrations(known);
  for (const { id, signed_in_as: username } of apps) {
    show(
      document.querySelector(`[data-app="${id}"] .who`),
      username ? t("home.signed_in_as", { username }) : t("home.nobody"),
      Boolean(username),
    );
  }
  const usernames = [...new Set(apps.map(({ signed_in_as: username }) => username).filter(Boolean))];
  const first = document.querySelector(".user");
  const inFirst = apps.find(({ id }) => id === first?.dataset.first)?.signed_in_as;
  if (inFirst) {
    first.textContent = inFirst;
    // The next press needs no sign-in page.
    document.querySelector(".try").firstChild.data = t("home.press_again");
    // The steps that are left out stay in place, so that nothing moves.
    const [ask, signIn, redeem] = document.querySelector(".beats").children;
    ask.replaceChildren(element("code", "", "acquireTokenSilent(with:)"), " ", t("home.silent"));
    for (const beat of [signIn, redeem]) beat.replaceChildren(element("s", "", ...beat.childNodes));
    document.querySelector(".go span").textContent = t("home.signed_in_as", { username: inFirst });
  }
  show(
    signedIn,
    usernames.length > 0 ? t("home.signed_in", { usernames: usernames.join(", ") }) : t("home.nobody_anywhere"),
    usernames.length > 0,
  );
}

/** An error stands below the cards, which can be used all the same. */
const loadOrSay = () =>
  load().catch((failure) => Object.assign(state, { textContent: failure.message, hidden: false }))
    .finally(() => team?.removeAttribute("data-loading"));

/** Where there are many cards: those that have the words. Enter opens the first of them. */
function findCards(field) {
  const found = document.getElementById("none-found");
  const cards = [...document.getElementById("cards").children];
  const left = () => cards.filter((card) => !card.hidden);
  const find = () => {
    const matches = finding(field.value);
    for (const card of cards) card.hidden = !matches(`${card.textContent} ${card.dataset.app ?? ""}`);
    found.textContent = left().length > 0 ? "" : found.dataset.text;
  };
  field.addEventListener("input", find);
  // The words may have come before this script.
  find();
  field.addEventListener("keydown", ({ key }) => key === "Enter" && field.value.trim() && left()[0]?.querySelector("a").click());
}

const field = document.getElementById("find");
if (field) findCards(field);

onForeground(loadOrSay);
addEventListener("online", loadOrSay);

await loadOrSay();
