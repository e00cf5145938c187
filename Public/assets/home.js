// The home page: one card for each configured application, who is signed in, the device mode, the demo note.

import { get } from "./api.js";
import { base } from "./base.js";
import { showDemoNote } from "./demo.js";
import { element } from "./element.js";
import { onForeground } from "./return-trip.js";
import { t } from "./strings.js";

const phone = "/assets/phone.svg";
const otherPicture = "/assets/window.svg";
const pictures = { ios: phone, external: phone, b2c: phone, macos: otherPicture, portal: "/assets/portal.svg", kiosk: "/assets/kiosk.svg" };

const state = document.getElementById("state");
const cards = document.getElementById("cards");
const signedIn = document.getElementById("signed-in");

function card({ id, title, page, kind, authority, signed_in_as: username }) {
  const icon = element("img");
  Object.assign(icon, { src: base + (pictures[page] ?? otherPicture), width: 44, height: 44, alt: "" });
  const link = element("a", "", title);
  link.href = `${base}/${id}`;
  const open = element("span", "open", `${t("home.open")} →`);
  open.setAttribute("aria-hidden", "true");
  return element("li", "card",
    element("div", "card-head",
      element("span", "card-icon", icon),
      element("div", "", element("h3", "", link), element("p", "kind", t(`home.kind.${kind}`) || kind)),
    ),
    element("p", "purpose", t(`home.page.${page}`)),
    element("p", "authority mono", authority),
    element("p", "foot",
      element("span", username ? "who in" : "who", username ? t("home.signed_in_as", { username }) : t("home.nobody")),
      open,
    ),
  );
}

/** Shows a message, or with none hides it; cards that are there already stay. */
function say(text) {
  state.textContent = text;
  state.hidden = text === "";
  cards.hidden = text !== "" && cards.children.length === 0;
  signedIn.hidden = cards.hidden;
}

async function load() {
  const { apps, demo, mode, demo_control_url: controlURL } = await get("/api/apps");
  cards.replaceChildren(...apps.map(card));
  say(apps.length > 0 ? "" : t("home.none"));
  const usernames = [...new Set(apps.map(({ signed_in_as: username }) => username).filter(Boolean))];
  signedIn.className = usernames.length > 0 ? "who in" : "who";
  signedIn.textContent = usernames.length > 0 ? t("home.signed_in", { usernames: usernames.join(", ") }) : t("home.nobody_anywhere");
  document.getElementById("mode").textContent = t(`home.mode.${mode}`);
  document.getElementById("mode-text").textContent = t(`home.mode_means.${mode}`);
  document.getElementById("facts").hidden = false;
  if (demo && document.getElementById("demo").hidden) showDemoNote({ controlURL });
}

const loadOrSay = () => load().catch((failure) => say(failure.message));

onForeground(loadOrSay);
addEventListener("online", loadOrSay);

await loadOrSay();
