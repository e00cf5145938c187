// The account's tab before the first sign-in: how to begin, the registrations at a glance, and an attempt as an example.

import { get } from "../base/api.js";
import { element, t } from "../base/page.js";
import { refill } from "./form.js";
import { byTitle, explained, many } from "./parts.js";
import { waterfall } from "./waterfall.js";

/** The first steps, in their order. */
function beginning() {
  return element("ol", "beginning", ...["choose", "sign_in", "look"].map((name) => element("li", "", t(`portal.begin.${name}`))));
}

/** A registration, which a press chooses in the form. */
function registration({ id, title, authority, signed_in_as: username }, chosen) {
  const made = element(
    "button",
    "registration",
    element("b", "", title),
    element("span", "mono", authority),
    element("span", username ? "who in" : "who", username ? t("portal.signed_in_as", { username }) : t("portal.nobody")),
  );
  made.type = "button";
  made.setAttribute("aria-pressed", String(id === chosen.id));
  made.addEventListener("click", () => refill({ app: id }));
  return element("li", "", made);
}

function registrations(apps, chosen) {
  const shown = (apps.length > many ? byTitle(apps) : apps).slice(0, many);
  const rest = apps.length - shown.length;
  return [
    element("h3", "", t("portal.registrations")),
    element("ul", "registrations", ...shown.map((each) => registration(each, chosen))),
    ...(rest > 0 ? [element("p", "quiet", t("portal.more_registrations", { count: rest }))] : []),
  ];
}

/** An attempt that nobody made, as a real one is shown. */
function example() {
  const code = "provider_rejected_client";
  const began = Date.now() - 10_000;
  const step = (name, at, duration, outcome = "ok") => ({
    step: name,
    time: new Date(began + at).toISOString(),
    duration_ms: duration,
    outcome,
  });
  const problem = {
    code,
    title: t("portal.example.title"),
    explanation: { number: "AADSTS7000215", cause: t("portal.example.cause"), who: "operator", remedy: t("portal.example.remedy") },
  };
  const steps = [step("authorize", 60, 60), step("callback", 7400, 4), step("token", 7900, 480, code)];
  const made = element(
    "div",
    "example",
    element("p", "", element("span", "tag", t("portal.example.name")), " ", t("portal.example.what")),
    explained(problem),
    ...waterfall({ steps, problem }),
  );
  return made;
}

export async function view({ apps, application }) {
  // Who is signed in may have changed since the page was loaded.
  const now = await get("/api/apps");
  const known = apps.map((each) => now.apps.find(({ id }) => id === each.id) ?? each);
  return [beginning(), ...registrations(known, application), example()];
}
