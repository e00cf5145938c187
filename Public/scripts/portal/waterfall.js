// The steps of an attempt as bars along its time: what took how long, and when the person was at the provider.

import { element, t } from "../base/page.js";
import { milliseconds, stepOutcome } from "./parts.js";

const fine = new Set(["ok", "cache", "refreshed"]);

/** Each step with the times at which it began and ended; between leaving and coming back the person is at the provider. */
function spans(steps) {
  const found = [];
  for (const step of steps) {
    const end = Date.parse(step.time);
    const begin = end - (step.duration_ms ?? 0);
    const before = found.at(-1);
    if (step.step === "callback" && before?.step === "authorize") {
      found.push({ step: "person", begin: before.end, end: begin, isGood: true });
    }
    found.push({ step: step.step, begin, end, isGood: fine.has(step.outcome), outcome: step.outcome });
  }
  return found;
}

/** A bar's place: shares of the whole, and never too thin to be seen. */
function bar({ begin, end, step, isGood }, start, whole) {
  const made = element("i", step === "person" ? "bar person" : isGood ? "bar" : "bar bad");
  made.style.insetInlineStart = `${Math.min(98, (100 * (begin - start)) / whole)}%`;
  made.style.width = `${Math.max(1.5, (100 * (end - begin)) / whole)}%`;
  return element("div", "lane", made);
}

/** The waterfall of an attempt; nothing where none of its steps is remembered. */
export function waterfall({ steps, problem }) {
  const all = spans(steps);
  if (all.length === 0) return [];
  const start = Math.min(...all.map(({ begin }) => begin));
  const whole = Math.max(1, Math.max(...all.map(({ end }) => end)) - start);
  const rows = all.map((span) =>
    element(
      "li",
      "",
      element("span", "", span.step === "person" ? t("portal.at_provider") : t(`portal.step.${span.step}`)),
      bar(span, start, whole),
      element(
        "span",
        span.isGood ? "quiet" : "bad",
        span.isGood ? milliseconds(span.end - span.begin) : stepOutcome(span.outcome, problem),
      ),
    )
  );
  return [element("h3", "", t("portal.waterfall")), element("ol", "waterfall", ...rows)];
}
