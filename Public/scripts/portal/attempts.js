// The sign-ins of this session: what was asked for, what came of it, as a bug report, two of them side by side.

import { Failure, get } from "../base/api.js";
import { openCase } from "../base/open-case.js";
import { element, t } from "../base/page.js";
import { impersonalClaims, retry } from "./form.js";
import {
  button,
  copyButton,
  dateTime,
  explained,
  facts,
  identifiers,
  milliseconds,
  noReturn,
  run,
  statusBox,
  stepOutcome,
  time,
} from "./parts.js";
import { waterfall } from "./waterfall.js";

/** An attempt's outcome, in words. */
function outcomeOf({ outcome, problem }) {
  if (outcome === "ok") return t("portal.succeeded");
  return outcome ? problem?.title ?? outcome : t("portal.unfinished");
}

/** The same with the stable code, as reports need it. */
const codedOutcome = (attempt) => [outcomeOf(attempt), attempt.problem?.code].filter(Boolean).join(" · ");

/** Nobody is known of a sign-in that failed, or whose account is no longer signed in. */
const nameOf = ({ username }) => username || t("portal.no_username");

const took = ({ began, ended }) => (ended ? milliseconds(Date.parse(ended) - Date.parse(began)) : "");

/**
 * The settings of an attempt and its outcome, as [term, value], without secrets and without anything that names a person.
 * A comparison shows a third where there is one: of the steps, what came of them and not how long they took.
 */
function known({ app, title, authority, settings, granted_scopes: granted, declined_scopes: declined, problem, steps, ...attempt }) {
  const given = (hint) => (hint ? t("portal.given") : t("portal.not_given"));
  const names = [...new Set(steps.map(({ step }) => step))];
  return [
    [t("portal.field.app"), title.includes(app) ? title : `${title} (${app})`],
    [t("portal.authority"), authority],
    [t("portal.outcome"), codedOutcome({ ...attempt, problem })],
    [t("portal.field.prompt"), settings.prompt],
    [t("portal.field.login_hint"), given(settings.login_hint)],
    [t("portal.field.domain_hint"), given(settings.domain_hint)],
    [t("portal.requested"), settings.scopes.join(" ")],
    [t("portal.field.claims"), settings.claims && impersonalClaims(settings.claims)],
    [t("portal.field.max_age"), settings.max_age == null ? "" : String(settings.max_age)],
    [t("portal.field.acr_values"), settings.acr_values],
    [t("portal.field.tenant"), settings.tenant],
    [t("portal.field.policy"), settings.policy],
    [t("portal.granted"), granted.join(" ")],
    [t("portal.declined"), declined.join(" ")],
    [t("problem.number"), problem?.explanation?.number],
    ...names.map((name) => {
      const own = steps.filter(({ step }) => step === name);
      const words = own.map(({ outcome }) => stepOutcome(outcome, problem));
      const lines = own.map(({ outcome, duration_ms: duration, correlation_id: id }, index) =>
        [words[index], outcome === problem?.code && outcome, milliseconds(duration), id].filter(Boolean).join(" · ")
      );
      return [t("portal.step", { step: t(`portal.step.${name}`) }), lines.join("\n"), words.join("\n")];
    }),
  ];
}

/** Markdown; the provider's own words are left out, as they may name a person. */
function report(attempt) {
  const { title, explanation } = attempt.problem ?? {};
  const rows = [
    [t("portal.began"), attempt.began],
    [t("portal.took"), took(attempt)],
    ...known(attempt),
    ...identifiers(attempt.problem ?? {}).slice(1),
  ];
  return [
    `## ${t("portal.report_title", { title: attempt.title, outcome: codedOutcome(attempt) })}`,
    "",
    ...rows.filter(([, value]) => value).map(([term, value]) => `- ${term}: ${value.replaceAll("\n", "; ")}`),
    ...(explanation ? ["", `${title}: ${explanation.cause} ${explanation.remedy}`] : []),
    "",
  ].join("\n");
}

/** The reason why an attempt failed and the remedy, which stand above its facts where they are not compared. */
const reason = (
  { problem },
) => [t("portal.reason"), [problem?.explanation?.cause ?? problem?.detail, problem?.explanation?.remedy].filter(Boolean).join(" ")];

/** An attempt as a comparison shows it. */
const compared = (attempt, hasTokens) => ({
  ...attempt,
  hasTokens,
  head: element(
    "span",
    "",
    attempt.title,
    outcomeWord(attempt),
    element("span", "", nameOf(attempt)),
    element("span", "", dateTime(attempt.began)),
  ),
  rows: known(attempt).flatMap((row) => (row[0] === t("portal.outcome") ? [row, reason(attempt)] : [row])),
});

const outcomeWord = (attempt) => element("span", attempt.outcome === "ok" ? "good" : attempt.outcome ? "bad" : "quiet", outcomeOf(attempt));

/** The attempt's settings as the form has them, without the login hint. */
function again({ app, settings }, apps) {
  const own = new Set(apps.find(({ id }) => id === app)?.scopes);
  const { prompt, domain_hint, tenant, claims, policy, scopes, max_age, acr_values } = settings;
  retry({
    app,
    prompt,
    domain_hint,
    tenant,
    claims,
    policy,
    max_age,
    acr_values,
    scope: scopes.filter((scope) => !own.has(scope)).join(" "),
  });
}

function caseButtons(attempt, apps) {
  const own = apps.find(({ id }) => id === attempt.app);
  return own ? [button(t("portal.open_case"), () => openCase(attempt, own))] : [];
}

/** `expected`: the outcome of the case that it replays. */
function entry(attempt, apps, isOpen, choose, expected) {
  const { began, problem, title, settings } = attempt;
  const code = problem ? [element("code", "", problem.code)] : [];
  const details = element(
    "details",
    "",
    element(
      "summary",
      "",
      element("time", "", time(began)),
      element("span", "title", title),
      outcomeWord(attempt),
      element("span", "quiet username", nameOf(attempt)),
      element("span", "quiet prompt", settings.prompt ?? ""),
      element("span", "quiet took", took(attempt)),
      ...code,
    ),
    ...(expected ? [element("p", "", t("panel.replayed", { expected, came: problem.explanation?.number ?? problem.code }))] : []),
    ...(problem ? [explained(problem)] : attempt.outcome ? [] : [noReturn()]),
    ...waterfall(attempt),
    facts([[t("portal.began"), dateTime(began)], [t("portal.took"), took(attempt)], ...known(attempt)]),
    element(
      "p",
      "buttons",
      button(t("portal.retry"), () => again(attempt, apps)),
      copyButton(t("portal.copy_report"), () => report(attempt)),
      ...caseButtons(attempt, apps),
    ),
  );
  details.open = isOpen;
  const box = Object.assign(element("input"), { type: "checkbox", ariaLabel: t("portal.choose", { title, time: time(began) }) });
  box.addEventListener("change", () => choose(attempt, box.checked));
  return element("li", "attempt", element("label", "pick", box), details);
}

/** Names the accounts of the attempts, as far as this session has them. */
async function addUsernames(attempts) {
  const apps = [...new Set(attempts.filter(({ account }) => account).map(({ app }) => app))];
  const lists = await Promise.all(apps.map((app) => get(`/api/${app}/accounts`).then(({ accounts }) => accounts, () => [])));
  for (const attempt of attempts) {
    attempt.username = lists[apps.indexOf(attempt.app)]?.find(({ id }) => id === attempt.account)?.username ?? "";
  }
}

/** The heads of the rows' columns; each row says by itself what it is. */
function heads() {
  const titles = ["began", "field.app", "outcome", "username", "field.prompt", "took"].map((name) =>
    element("span", "", t(`portal.${name}`))
  );
  const made = element("p", "heads", ...titles);
  made.ariaHidden = "true";
  return made;
}

/** Whether those of the other registrations are listed, too. */
let isEach = false;

export async function view({ apps, apis, application, openAttempt, expected, mode, tokenDisplay }) {
  const { attempts } = await get("/api/attempts");
  if (attempts.length === 0) return [element("p", "empty", t("portal.no_attempts"))];
  for (const attempt of attempts) attempt.title = apps.find(({ id }) => id === attempt.app)?.title ?? attempt.app;
  await addUsernames(attempts);
  let picked = [];
  const said = statusBox();
  const hasTokens = mode !== "shared" && tokenDisplay !== "hidden";
  const go = button(t("portal.compare"), (pressed) =>
    run(pressed, said, async () => {
      const { compare } = await import("./comparison.js").catch(() => Promise.reject(new Failure(t("api.unreachable"))));
      await compare(picked.map((attempt) => compared(attempt, hasTokens)), apis);
    }));
  go.disabled = true;
  const list = element("ul");
  const none = element("p", "empty", t("portal.no_attempts_here"));
  const shown = heads();
  const note = element("span", "quiet");
  const each = Object.assign(element("input"), { type: "checkbox", checked: isEach });
  /** Those of the registration; with one press, of all. */
  const show = () => {
    isEach = each.checked;
    for (const [index, { app }] of attempts.entries()) list.children[index].hidden = !isEach && app !== application.id;
    const count = [...list.children].filter((entry) => entry instanceof HTMLElement && !entry.hidden).length;
    none.hidden = count > 0;
    shown.hidden = !none.hidden;
    note.textContent = t(count < 2 ? "portal.compare_needs_two" : "portal.compare_note");
  };
  each.addEventListener("change", show);
  const choose = (attempt, isPicked) => {
    picked = isPicked ? [...picked, attempt] : picked.filter((each) => each !== attempt);
    go.disabled = picked.length !== 2;
    for (const box of list.querySelectorAll("input")) box.disabled = picked.length === 2 && !box.checked;
  };
  list.append(...attempts.map((attempt) => {
    const isOpen = attempt.id === openAttempt;
    return entry(attempt, apps, isOpen, choose, isOpen && expected);
  }));
  show();
  const own = attempts.map((attempt, index) => ({ attempt, item: list.children[index] })).filter(({ item }) => !item.hidden);
  // Where there is only one pair of people, nobody has to choose it.
  if (own.length === 2 && new Set(own.map(({ attempt }) => attempt.username || null)).size === 2) {
    for (const { attempt, item } of own) {
      item.querySelector("input").checked = true;
      choose(attempt, true);
    }
  }
  const others = attempts.some(({ app }) => app !== application.id);
  return [
    element(
      "p",
      "buttons",
      go,
      note,
      ...(others ? [element("label", "each", each, t("portal.each_attempt"))] : []),
    ),
    said,
    shown,
    list,
    none,
  ];
}
