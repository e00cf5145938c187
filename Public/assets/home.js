// The home page: one card for each configured application, the device mode, the demo note.

import { get } from "./api.js";
import { showDemoNote } from "./demo.js";

const kinds = {
  workforce: "Work, school and personal accounts",
  external: "Customer accounts (external tenant)",
  b2c: "Azure AD B2C",
  oidc: "OpenID Connect",
};

const modes = {
  private: "One person's machine. Signing out removes the application's tokens; the browser stays signed in at the identity provider.",
  shared: "A machine that several people use. Signing out also signs the browser out of the identity provider, and sessions are short.",
};

const pictures = { ios: "phone", external: "phone", b2c: "phone", kiosk: "phone", macos: "window" };

const state = document.getElementById("state");

function element(name, className, ...content) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

function card({ id, title, page, kind, authority, signed_in_as: username }) {
  const icon = element("img");
  Object.assign(icon, { src: `/assets/${pictures[page] ?? "window"}.svg`, width: 44, height: 44, alt: "" });
  const link = element("a", "", title);
  link.href = `/${id}`;
  const open = element("span", "open", "Open →");
  open.setAttribute("aria-hidden", "true");
  return element("li", "card",
    element("div", "card-head",
      element("span", "card-icon", icon),
      element("div", "", element("h3", "", link), element("p", "kind", kinds[kind] ?? kind)),
    ),
    element("p", "authority mono", authority),
    element("p", "foot",
      element("span", username ? "who in" : "who", username ? `Signed in as ${username}` : "Nobody signed in"),
      open,
    ),
  );
}

async function load() {
  const { apps, demo, mode, demo_control_url: controlURL } = await get("/api/apps");
  document.getElementById("cards").replaceChildren(...apps.map(card));
  document.getElementById("mode").textContent = mode === "shared" ? "Shared" : "Private";
  document.getElementById("mode-text").textContent = modes[mode] ?? "";
  document.getElementById("facts").hidden = false;
  if (demo && document.getElementById("demo").hidden) showDemoNote({ controlURL });
  state.hidden = apps.length > 0;
  if (apps.length === 0) state.textContent = "No application is configured. Name one under apps: in companion.yaml and start the server again.";
}

const loadOrSay = () => load().catch((failure) => {
  state.textContent = failure.message;
  state.hidden = false;
});

// Who is signed in may have changed in another tab.
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && loadOrSay());
addEventListener("pageshow", (event) => event.persisted && loadOrSay());

await loadOrSay();
