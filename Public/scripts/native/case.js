// A case on the page of a tutorial, without its screen: what was asked for and what came of it, and the same story and code.

import { beginTrip, Failure, forgetTrip, get } from "../base/api.js";
import { copyButton } from "../base/buttons.js";
import { mostSteps, NoCase, ofFragment, readCase, replayOf } from "../base/case.js";
import { base, element, loadTexts, t, withElements } from "../base/page.js";

const place = document.getElementById("found");
const json = document.getElementById("as-json");
const stage = document.querySelector(".stage");

/** Where a step's request goes: the path, and the host in words, because a case does not have its name. */
const targets = {
  authorize: ["provider", "/oauth2/v2.0/authorize"],
  callback: ["callback", "/"],
  token: ["provider", "/oauth2/v2.0/token"],
  api: ["api", "/"],
  sign_out: ["provider", "/oauth2/v2.0/logout"],
};

function target(step) {
  if (!targets[step]) return {};
  const [host, path] = targets[step];
  return { endpoint: `https://host${path}`, host: `… (${t(`case.host.${host}`)})` };
}

/** The steps as the server would remember them: those of the sign-in, and what came before it. */
function story({ settings: { prompt, scopes, given }, outcome, steps, claims }) {
  if (steps.length === 0) throw new Failure(t("case.no_steps"));
  const proved = () => import("../base/claims-table.js").then(({ loadTable }) => loadTable(claims));
  const begin = steps.findLastIndex(({ step }) => step === "authorize");
  const settings = { prompt: prompt === "if_necessary" ? null : prompt, scopes, login_hint: given.includes("login_hint") };
  const isOpen = outcome.code === "unfinished" && steps.at(-1).step === "authorize";
  const came = isOpen ? [...steps, { step: "unreturned", outcome: outcome.number ?? "cancelled" }] : steps;
  return {
    events: came.map(({ ms, ...known }, number) => ({
      ...known,
      number,
      duration_ms: ms,
      ...target(known.step),
      attempt: number >= begin ? 1 : null,
      // The sign-in ends with its failure.
      error_number: number === came.length - 1 ? outcome.number : undefined,
      claims: known.step === "token" && known.outcome === "ok" && proved,
    })),
    attempts: [{ id: 1, settings }],
    isRecorded: true,
  };
}

/** The cause of the outcome's number, and who can fix it and how; nothing where the tables don't have it. */
async function reason({ number = "" }) {
  if (!number) return [];
  const { explanationOf } = await import("../base/platform-numbers.js");
  const [found] = await Promise.all([explanationOf(number.replace(/^AAD(?:STS|B2C)/, "")), loadTexts("problem")]);
  if (!found) return [];
  return [
    element("p", "", found.cause, " ", element("strong", "", t(`problem.who.${found.who}`)), " ", found.remedy),
    element("p", "quiet", t("case.no_ids", { button: t("problem.copy") })),
  ];
}

/** All of it comes at once: a part that came later would move the rest. */
async function show(found) {
  const { kind, settings, outcome, steps } = found;
  const buttons = element("p", "buttons", copyButton(t("case.copy"), () => location.href));
  const [why] = await Promise.all([reason(outcome).catch(() => []), offerReplay(found, buttons)]);
  const facts = [
    [t("case.kind"), kind],
    [t("case.outcome"), [outcome.code, outcome.number].filter(Boolean).join(" · ")],
    [t("case.prompt"), settings.prompt],
    [t("case.scopes"), settings.scopes.join(" ")],
    [t("case.given"), settings.given.join(", ") || t("case.none")],
  ];
  place.replaceChildren(
    element("p", "notice", t("case.recording")),
    element("dl", "facts", ...facts.map(([term, value]) => element("div", "", element("dt", "", term), element("dd", "", value)))),
    json,
    ...why,
    ...(steps.length < mostSteps ? [] : [element("p", "quiet", t("case.newest_steps", { count: mostSteps }))]),
    buttons,
  );
  json.hidden = false;
  // The story and the code are those of the chapter for this kind.
  document.body.dataset.page = ["external", "b2c"].includes(kind) ? kind : found.page === "macos" ? "macos" : "ios";
  stage.hidden = false;
  const { source, timeline, code } = await import("../tutorial/panels.js");
  // The page may have been left, and emptied, meanwhile.
  if (!stage.isConnected) return;
  Object.assign(source, { story: async () => story(found), known: {} });
  await Promise.all([timeline.update(), code.update()]);
  stage.classList.remove("coming");
}

/** In the demo, this browser's next sign-in fails like the case; where it can't, the page says why. */
async function offerReplay(found, buttons) {
  const { kind, outcome, settings } = found;
  const { demo, apps, demo_control_url: control } = await get("/api/apps").catch(() => ({ demo: false }));
  if (!demo) return;
  const note = (...texts) => buttons.append(element("span", "quiet", " ", ...texts));
  const replay = replayOf(found);
  if (!replay) {
    if (["ok", "cancelled"].includes(outcome.code)) return note(t(`case.no_replay.${outcome.code}`));
    const name = document.querySelector('.rooms a[href*="/control?ui_locales="]')?.textContent ?? "/control";
    return note(...withElements(t("case.no_replay.other"), { failures: Object.assign(element("a", "", name), { href: control }) }));
  }
  const own = apps.filter((each) => each.kind === kind && each.page !== "kiosk");
  const same = own.find(({ page }) => page === found.page);
  const chosen = same ?? own.find(({ page }) => page === "portal") ?? own[0];
  if (!chosen) return note(t("case.no_replay.registration"));
  // A portal shows the application of its address; without one it would show its first.
  const page = `${base}/${chosen.id}${chosen.page === "portal" ? `?${new URLSearchParams({ app: chosen.id })}` : ""}`;
  const query = new URLSearchParams({
    replay,
    return_to: page,
    ...(settings.prompt === "none" ? {} : { prompt: settings.prompt }),
  });
  const link = Object.assign(element("a", "primary", t("case.replay")), { href: `${base}/auth/${chosen.id}/sign-in?${query}` });
  // Its page says it beside what came.
  link.addEventListener("click", () => beginTrip(chosen.id, "sign-in", { expected: outcome.number ?? outcome.code }));
  buttons.prepend(link);
  note(t("case.replay_note", { title: chosen.title }), same ? "" : ` ${t("case.replay_instead")}`);
}

/** The case of the link; without one, the paste box takes one. */
function read() {
  const text = ofFragment(location.hash);
  if (text === null) return location.replace(`${base}/paste`);
  document.getElementById("json").textContent = text;
  try {
    show(readCase(text));
  } catch (error) {
    if (!(error instanceof NoCase)) throw error;
    place.replaceChildren(element("p", "bad", t(`case.error.${error.reason}`, { place: error.place })), json);
    json.hidden = false;
  }
}

addEventListener("hashchange", () => location.reload());
// A replay that was given up must not be said of a later sign-in.
forgetTrip();
read();
