// The sign-ins of this session: what was asked for, what came of it, as a bug report, two of them side by side.

import { get } from "./api.js";
import { caseOf, fragment } from "./case.js";
import { base, element, t } from "./page.js";
import { ask } from "./portal-dialog.js";
import { impersonalClaims, refill } from "./portal-form.js";
import { button, copy, copyButton, dateTime, explained, facts, folded, identifiers, milliseconds, stepOutcome, table, time } from "./portal-parts.js";
import { waterfall } from "./portal-waterfall.js";

/** What came of an attempt, in words. */
function outcomeOf({ outcome, problem }) {
  if (outcome === "ok") return t("portal.succeeded");
  return outcome ? problem?.title ?? outcome : t("portal.unfinished");
}

/** The same with the stable code, as reports need it. */
const codedOutcome = (attempt) => [outcomeOf(attempt), attempt.problem?.code].filter(Boolean).join(" · ");

const took = ({ began, ended }) => (ended ? milliseconds(new Date(ended) - new Date(began)) : "");

/**
 * What was asked for and what came of it, as [term, value], without secrets and without anything that names a person.
 * A comparison shows a third where there is one: of the steps, what came of them and not how long they took.
 */
function known({ app, title, authority, settings, granted_scopes: granted, declined_scopes: declined, problem, steps, ...attempt }) {
  const given = (hint) => (hint ? t("portal.given") : t("portal.not_given"));
  const names = [...new Set(steps.map(({ step }) => step))];
  return [
    [t("portal.field.app"), `${title} (${app})`],
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
        [words[index], outcome === problem?.code && outcome, milliseconds(duration), id].filter(Boolean).join(" · "));
      return [t("portal.step", { step: t(`portal.step.${name}`) }), lines.join("\n"), words.join("\n")];
    }),
  ];
}

/** Markdown; the provider's own words are left out, as they may name a person. */
function report(attempt) {
  const { title, explanation } = attempt.problem ?? {};
  const rows = [[t("portal.began"), attempt.began], [t("portal.took"), took(attempt)], ...known(attempt), ...identifiers(attempt.problem ?? {}).slice(1)];
  return [
    `## ${t("portal.report_title", { title: attempt.title, outcome: codedOutcome(attempt) })}`, "",
    ...rows.filter(([, value]) => value).map(([term, value]) => `- ${term}: ${value.replaceAll("\n", "; ")}`),
    ...(explanation ? ["", `${title}: ${explanation.cause} ${explanation.remedy}`] : []), "",
  ].join("\n");
}

/** Why an attempt failed and what helps, which stands above its facts where they are not compared. */
const reason = ({ problem }) => [t("portal.reason"), [problem?.explanation?.cause ?? problem?.detail, problem?.explanation?.remedy].filter(Boolean).join(" ")];

/** Two attempts side by side: what differs first, and the rest folded. */
function compare(attempts) {
  const [one, two] = attempts.map((attempt) => new Map(known(attempt).flatMap((row) => (row[0] === t("portal.outcome") ? [row, reason(attempt)] : [row]))
    .map(([term, ...values]) => [term, values])));
  const rows = { different: [], same: [] };
  for (const term of new Set([...one.keys(), ...two.keys()])) {
    const differs = (one.get(term)?.at(-1) || "") !== (two.get(term)?.at(-1) || "");
    const name = element("div", "", `${term} `, ...(differs ? [element("strong", "tag", t("portal.differs"))] : []));
    rows[differs ? "different" : "same"].push([name, ...[one, two].map((each) => each.get(term)?.at(-1) || "–")]);
  }
  const titles = () => [t("portal.setting"), ...attempts.map((attempt) => element("span", "", attempt.title, outcomeWord(attempt), element("span", "", dateTime(attempt.began))))];
  const shown = (part) => {
    const made = table(titles(), part);
    made.firstChild.className = "comparison";
    return made;
  };
  return ask(t("portal.comparison"), element("div", "",
    rows.different.length > 0 ? shown(rows.different) : element("p", "quiet", t("portal.no_difference")),
    folded(t("portal.same", { count: rows.same.length }), false, shown(rows.same)),
  ));
}

const outcomeWord = (attempt) => element("span", attempt.outcome === "ok" ? "good" : attempt.outcome ? "bad" : "quiet", outcomeOf(attempt));

/** The attempt's settings as the form has them, without the login hint. */
function again({ app, settings }, apps) {
  const own = new Set(apps.find(({ id }) => id === app)?.scopes);
  const { prompt, domain_hint, tenant, claims, policy, scopes, max_age, acr_values } = settings;
  refill({ app, prompt, domain_hint, tenant, claims, policy, max_age, acr_values, scope: scopes.filter((scope) => !own.has(scope)).join(" ") }, { isRetry: true });
}

/** The attempt as a case: opened in the scrubber, or as a link that carries it. */
function caseButtons(attempt, apps) {
  const kind = apps.find(({ id }) => id === attempt.app)?.kind;
  if (!kind) return [];
  const address = async () => {
    const claims = attempt.outcome === "ok" ? await get(`/api/${attempt.app}/claims`).catch(() => ({})) : {};
    return `${location.origin}${base}/native/case${fragment(caseOf(attempt, kind, claims))}`;
  };
  return [
    button(t("portal.open_case"), async () => location.assign(await address())),
    button(t("portal.copy_case"), async (pressed) => copy(pressed, await address())),
  ];
}

function entry(attempt, apps, isOpen, choose) {
  const { began, problem, title, username, settings } = attempt;
  const code = problem ? [element("code", "", problem.code)] : [];
  const details = element("details", "", element("summary", "", element("time", "", time(began)), element("span", "title", title), outcomeWord(attempt),
    element("span", "quiet username", username), element("span", "quiet prompt", settings.prompt ?? ""), element("span", "quiet took", took(attempt)), ...code),
    ...(problem ? [explained(problem)] : []),
    ...waterfall(attempt),
    facts([[t("portal.began"), dateTime(began)], [t("portal.took"), took(attempt)], ...known(attempt)]),
    element("p", "buttons", button(t("portal.retry"), () => again(attempt, apps)), copyButton(t("portal.copy_report"), () => report(attempt)),
      ...caseButtons(attempt, apps)),
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

/** What stands in the rows; each row says by itself what it is. */
function heads() {
  const titles = ["began", "field.app", "outcome", "username", "field.prompt", "took"].map((name) => element("span", "", t(`portal.${name}`)));
  const made = element("p", "heads", ...titles);
  made.ariaHidden = "true";
  return made;
}

export async function view({ apps, openAttempt }) {
  const { attempts } = await get("/api/attempts");
  if (attempts.length === 0) return [element("p", "empty", t("portal.no_attempts"))];
  for (const attempt of attempts) attempt.title = apps.find(({ id }) => id === attempt.app)?.title ?? attempt.app;
  await addUsernames(attempts);
  let picked = [];
  const go = button(t("portal.compare"), () => compare(picked));
  go.disabled = true;
  const list = element("ul");
  const choose = (attempt, isPicked) => {
    picked = isPicked ? [...picked, attempt] : picked.filter((each) => each !== attempt);
    go.disabled = picked.length !== 2;
    for (const box of list.querySelectorAll("input")) box.disabled = picked.length === 2 && !box.checked;
  };
  list.append(...attempts.map((attempt) => entry(attempt, apps, attempt.id === openAttempt, choose)));
  return [element("p", "buttons", go, element("span", "quiet", t("portal.compare_note"))), heads(), list];
}
