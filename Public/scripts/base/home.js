// The home page: who is signed in. All else is in the page.

import { get } from "./api.js";
import { onForeground } from "./return-trip.js";
import { finding, t } from "./page.js";

const state = document.getElementById("state");
const signedIn = document.getElementById("signed-in");

function show(place, text, isSignedIn) {
  if (!place) return;
  place.className = isSignedIn ? "who in" : "who";
  place.textContent = text;
}

async function load() {
  const { apps } = await get("/api/apps");
  state.hidden = true;
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
  if (inFirst) first.textContent = inFirst;
  show(
    signedIn,
    usernames.length > 0 ? t("home.signed_in", { usernames: usernames.join(", ") }) : t("home.nobody_anywhere"),
    usernames.length > 0,
  );
}

/** An error stands below the cards, which can be used all the same. */
const loadOrSay = () => load().catch((failure) => Object.assign(state, { textContent: failure.message, hidden: false }));

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
