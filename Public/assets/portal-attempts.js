// The sign-ins of this session: what was asked for, what came of it, as a bug report, two of them side by side.

import { get } from "./api.js";
import { element } from "./element.js";
import { ask } from "./portal-dialog.js";
import { impersonalClaims } from "./portal-form.js";
import { button, copyButton, dateTime, explained, facts, identifiers, milliseconds, table, time } from "./portal-parts.js";
import { t } from "./strings.js";

const outcomeOf = ({ outcome }) => (outcome === "ok" ? t("portal.succeeded") : outcome ?? t("portal.unfinished"));

const took = ({ began, ended }) => (ended ? milliseconds(new Date(ended) - new Date(began)) : "");

/**
 * What was asked for and what came of it, as [term, value], without secrets and without anything that names a person.
 * In the rows of steps only what follows as a third, the outcomes, is worth comparing.
 */
function told({ app, title, authority, settings, granted_scopes: granted, declined_scopes: declined, problem, steps, ...attempt }) {
  const given = (hint) => (hint ? t("portal.given") : t("portal.not_given"));
  const names = [...new Set(steps.map(({ step }) => step))];
  return [
    [t("portal.field.app"), `${title} (${app})`],
    [t("portal.authority"), authority],
    [t("portal.outcome"), outcomeOf(attempt)],
    [t("portal.field.prompt"), settings.prompt],
    [t("portal.field.login_hint"), given(settings.login_hint)],
    [t("portal.field.domain_hint"), given(settings.domain_hint)],
    [t("portal.requested"), settings.scopes.join(" ")],
    [t("portal.field.claims"), settings.claims && impersonalClaims(settings.claims)],
    [t("portal.field.tenant"), settings.tenant],
    [t("portal.field.policy"), settings.policy],
    [t("portal.granted"), granted.join(" ")],
    [t("portal.declined"), declined.join(" ")],
    [t("problem.number"), problem?.explanation?.number],
    ...names.map((name) => {
      const own = steps.filter(({ step }) => step === name);
      const lines = own.map(({ outcome, duration_ms: duration, correlation_id: id }) => [outcome, milliseconds(duration), id].filter(Boolean).join(" · "));
      return [t("portal.step", { step: t(`portal.step.${name}`) }), lines.join("\n"), own.map(({ outcome }) => outcome).join()];
    }),
  ];
}

/** Markdown; the provider's own words are left out, as they may name a person. */
function report(attempt) {
  const { title, explanation } = attempt.problem ?? {};
  const rows = [[t("portal.began"), attempt.began], [t("portal.took"), took(attempt)], ...told(attempt), ...identifiers(attempt.problem ?? {}).slice(1)];
  return [
    `## ${t("portal.report_title", { title: attempt.title, outcome: outcomeOf(attempt) })}`, "",
    ...rows.filter(([, value]) => value).map(([term, value]) => `- ${term}: ${value.replaceAll("\n", "; ")}`),
    ...(explanation ? ["", `${title}: ${explanation.cause} ${explanation.remedy}`] : []), "",
  ].join("\n");
}

function compare(attempts) {
  const [one, two] = attempts.map((attempt) => new Map(told(attempt).map(([term, ...values]) => [term, values])));
  const rows = [...new Set([...one.keys(), ...two.keys()])].map((term) => {
    const values = [one, two].map((each) => each.get(term)?.[0] || "–");
    const differs = (one.get(term)?.at(-1) || "") !== (two.get(term)?.at(-1) || "");
    return [element("div", "", `${term} `, ...(differs ? [element("strong", "tag", t("portal.differs"))] : [])), ...values];
  });
  return ask(t("portal.comparison"), table([t("portal.setting"), ...attempts.map(({ began }) => dateTime(began))], rows));
}

function entry(attempt, isOpen, choose) {
  const { began, outcome, problem, title } = attempt;
  const word = element("span", outcome === "ok" ? "good" : outcome ? "bad" : "quiet", outcomeOf(attempt));
  const details = element("details", "", element("summary", "", element("time", "", time(began)), element("span", "", title), word),
    ...(problem ? [explained(problem)] : []),
    facts([[t("portal.began"), dateTime(began)], [t("portal.took"), took(attempt)], ...told(attempt)]),
    element("p", "buttons", copyButton(t("portal.copy_report"), () => report(attempt))),
  );
  details.open = isOpen;
  const box = Object.assign(element("input"), { type: "checkbox", ariaLabel: t("portal.choose", { title, time: time(began) }) });
  box.addEventListener("change", () => choose(attempt, box.checked));
  return element("li", "attempt", box, details);
}

export async function view({ apps, openAttempt }) {
  const { attempts } = await get("/api/attempts");
  if (attempts.length === 0) return [element("p", "empty", t("portal.no_attempts"))];
  for (const attempt of attempts) attempt.title = apps.find(({ id }) => id === attempt.app)?.title ?? attempt.app;
  let picked = [];
  const go = button(t("portal.compare"), () => compare(picked));
  go.disabled = true;
  const list = element("ul");
  const choose = (attempt, isPicked) => {
    picked = isPicked ? [...picked, attempt] : picked.filter((each) => each !== attempt);
    go.disabled = picked.length !== 2;
    for (const box of list.querySelectorAll("input")) box.disabled = picked.length === 2 && !box.checked;
  };
  list.append(...attempts.map((attempt) => entry(attempt, attempt.id === openAttempt, choose)));
  return [element("p", "buttons", go, element("span", "quiet", t("portal.compare_note"))), list];
}
