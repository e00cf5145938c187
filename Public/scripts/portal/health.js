// Whether a registration is well, for the operator: what the last check found, a check of it now, and its own token.

import { app, get } from "../base/api.js";
import { element, loadTexts, t } from "../base/page.js";
import { dated, stateWord, unchecked } from "../base/registration.js";
import { appOnly } from "./app-only.js";
import { rawNumber, sorted } from "./checks.js";
import { button, dateTime, folded, refused, run, statusBox, table } from "./parts.js";

const ask = (names, more = {}) => get(`/api/${app}/health?${new URLSearchParams({ applications: names.join(","), ...more })}`);

/** The sentence about the platform's number in a detail, before the detail; what it needs is fetched where there is one. */
async function explainedDetail(detail) {
  const number = rawNumber(detail);
  if (!number) return detail;
  const [{ platformNumber }] = await Promise.all([import("../base/platform-numbers.js"), loadTexts("platform"), loadTexts("explain")]);
  const sentence = t(`platform.${number}.cause`) || t(`explain.cause.${platformNumber(number)?.cause}`);
  return sentence ? element("div", "", element("p", "", sentence), element("small", "quiet", detail)) : detail;
}

const checksTable = async (checks) =>
  table(
    [t("portal.check_title"), t("portal.outcome"), t("portal.detail")],
    await Promise.all(checks.map(async ({ check, severity, detail, expires }) => [
      t(`portal.check.${check}`),
      severity === "unknown" ? stateWord(severity, t("portal.unknown")) : stateWord(severity),
      await explainedDetail(dated({ detail, expires })),
    ])),
  );

/** The checks that are not good are open; where there are none, so are the good ones. */
async function report({ authority, checks }) {
  const { open, good } = sorted(checks);
  const title = good.length === 1 ? t("portal.check_good") : t("portal.checks_good", { count: good.length });
  return [
    element("h3", "mono", authority),
    ...(open.length > 0 ? [await checksTable(open)] : []),
    ...(good.length > 0 ? [folded(title, open.length === 0, await checksTable(good))] : []),
  ];
}

/** The findings that have appeared and gone since the check before this one. */
export function changesOf({ changes, last_checked_at: last }, titleOf) {
  if (!last) return [];
  const since = element("p", "quiet", t(changes.length > 0 ? "portal.changed_since" : "portal.unchanged_since", { time: dateTime(last) }));
  if (changes.length === 0) return [since];
  const rows = changes.map(({ change, app: id, check, detail }) =>
    element(
      "li",
      "",
      element("strong", change === "gone" ? "good" : "bad", t(`portal.change.${change}`)),
      ` ${titleOf(id)}, ${t(`portal.check.${check}`)}: ${detail}`,
    )
  );
  return [since, element("ul", "changes", ...rows)];
}

/** One request checks as many as this; four requests are under way at a time. */
const batch = 5;

/** Checks these applications, some at a time, and says in a box how far it is, until it is stopped there. */
export async function checkAll(ids, box) {
  let isStopped = false;
  let done = 0;
  const bar = Object.assign(element("progress"), { max: ids.length, value: 0, ariaLabel: t("portal.checking") });
  const text = element("span", "quiet");
  const say = () => {
    bar.value = done;
    text.textContent = t("portal.checked_of", { done, all: ids.length });
  };
  say();
  box.replaceChildren(element("p", "progress", bar, " ", text, " ", button(t("portal.stop_checking"), () => (isStopped = true))));
  const rest = Array.from({ length: Math.ceil(ids.length / batch) }, (_, index) => ids.slice(index * batch, (index + 1) * batch));
  const found = { changes: [], last_checked_at: null };
  const work = async () => {
    for (let part = rest.shift(); part && !isStopped; part = rest.shift()) {
      const { changes, last_checked_at: last } = await ask(part);
      found.changes.push(...changes);
      found.last_checked_at = [found.last_checked_at, last].filter(Boolean).sort().at(-1) ?? null;
      done += part.length;
      say();
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return found;
}

export async function view({ application, refreshList }) {
  const box = statusBox();
  const shown = element("div");
  const show = async ({ apps, checked_at: at }, ...changes) => {
    // Each user flow of B2C has an authority of its own.
    const content = apps.length > 0
      ? [
        element("p", "quiet", t("registration.checked_at", { time: dateTime(at) })),
        ...changes,
        ...(await Promise.all(apps.map(report))).flat(),
      ]
      : [element("p", "empty unchecked", unchecked(application))];
    shown.replaceChildren(...content);
  };
  const check = (pressed) =>
    run(pressed, box, async () => {
      const found = await ask([application.id]);
      await show(found, ...changesOf(found, () => application.title));
      await refreshList();
    }, refused);
  try {
    await show(await ask([application.id], { known: "true" }));
  } catch (failure) {
    return [refused(failure)];
  }
  return [element("p", "buttons", button(t("portal.check_one"), check)), box, shown, ...appOnly(application)];
}
