// The account's tab before the first sign-in: how to begin, and an attempt as an example.

import { get } from "../base/api.js";
import { element, t } from "../base/page.js";
import { fails } from "./list.js";
import { explained } from "./parts.js";
import { waterfall } from "./waterfall.js";

/** The first steps, in their order. */
function beginning() {
  return element("ol", "beginning", ...["choose", "sign_in", "look"].map((name) => element("li", "", t(`portal.begin.${name}`))));
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

/** Of someone who has attempts to look at, or of a registration that fails, the example's failure would be taken for theirs. */
export async function view({ application }) {
  const { attempts } = await get("/api/attempts").catch(() => ({ attempts: [] }));
  return [beginning(), ...(attempts.length > 0 || fails(application.id) ? [] : [example()])];
}
