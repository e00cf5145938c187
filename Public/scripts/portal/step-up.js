// After a step-up: what was asked for, what the tokens prove, and what an API that demands it answers.

import { get } from "../base/api.js";
import { element, t } from "../base/page.js";
import { folded, table } from "./parts.js";

const asArray = (value) => (value == null ? [] : Array.isArray(value) ? value : [value]);

/** The contexts that a claims request asks for in a token. */
function contexts(request, token) {
  const { value, values } = request[token]?.acrs ?? {};
  return [...asArray(value), ...asArray(values)];
}

const parsed = (text) => {
  try {
    return JSON.parse(text ?? "{}");
  } catch {
    return {};
  }
};

/** The answer of an API whose demand the token does not meet: a challenge that the next sign-in has to carry. */
function challenge(context) {
  const claims = JSON.stringify({ access_token: { acrs: { essential: true, value: context } } });
  return `HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer realm="", error="insufficient_claims",\n  claims="…"  (base64: ${claims})`;
}

/** One row for each thing that was asked for: [what, what the token says, whether that is enough]. */
function rows({ settings }, id, access) {
  const request = parsed(settings.claims);
  const found = [];
  for (const [token, claims] of [["id_token", id], ["access_token", access]]) {
    for (const context of contexts(request, token)) {
      const proved = asArray(claims?.acrs);
      found.push({
        asked: `${context} (${t(`portal.step_up.${token}`)})`,
        context,
        says: claims === null
          ? t("portal.step_up.unreadable")
          : proved.length > 0
          ? `acrs: ${proved.join(", ")}`
          : t("portal.step_up.no_acrs"),
        isMet: claims === null ? null : proved.includes(context),
      });
    }
  }
  const age = id.auth_time && Math.max(0, Math.round(id.iat - id.auth_time));
  const time = id.auth_time ? t("portal.step_up.age", { seconds: age }) : t("portal.step_up.no_auth_time");
  if (settings.max_age != null) {
    found.push({ asked: `max_age=${settings.max_age}`, says: time, isMet: id.auth_time ? age <= settings.max_age + 5 : null });
  }
  if (settings.prompt === "login") found.push({ asked: "prompt=login", says: time, isMet: id.auth_time ? age <= 60 : null });
  if (settings.acr_values) {
    const asked = settings.acr_values.split(" ");
    found.push({
      asked: `acr_values=${settings.acr_values}`,
      says: id.acr ? `acr: ${id.acr}` : t("portal.step_up.no_acr"),
      isMet: id.acr ? asked.includes(id.acr) : null,
    });
  }
  return found;
}

const word = (isMet) =>
  element(
    "strong",
    isMet ? "good" : isMet === false ? "bad" : "quiet",
    t(`portal.step_up.${isMet ? "met" : isMet === false ? "not_met" : "unknown"}`),
  );

/** The section, if the account's newest sign-in asked for more than usual. */
export async function stepUp({ id }, account, { mode, tokenDisplay }) {
  const { attempts } = await get("/api/attempts").catch(() => ({ attempts: [] }));
  const attempt = attempts.find((each) => each.app === id && each.outcome === "ok" && each.account === account.id);
  if (!attempt) return [];
  const { settings } = attempt;
  const demandsContext = ["id_token", "access_token"].some((token) => contexts(parsed(settings.claims), token).length > 0);
  if (!demandsContext && settings.max_age == null && settings.prompt !== "login" && !settings.acr_values) return [];
  const isShown = demandsContext && mode === "private" && tokenDisplay !== "hidden";
  /** @type {any[]} */
  const [claims, tokens] = await Promise.all([
    get(`/api/${id}/claims`).catch(() => ({})),
    isShown ? get(`/api/${id}/tokens`).catch(() => ({})) : {},
  ]);
  const access = tokens.access_token?.payload ?? null;
  const found = rows(attempt, claims, access);
  const demanded = found.filter(({ context }) => context);
  return [
    element("h3", "", t("portal.step_up.title")),
    table(
      [t("portal.step_up.asked"), t("portal.step_up.says"), t("portal.outcome")],
      found.map(({ asked, says, isMet }) => [element("code", "", asked), says, word(isMet)]),
    ),
    ...demanded.slice(0, 1).map(({ context }) => {
      const isMet = asArray(access?.acrs).includes(context);
      const answer = element("p", "", t(isMet ? "portal.step_up.api_accepts" : "portal.step_up.api_refuses", { context }));
      return element(
        "div",
        "",
        answer,
        ...(isMet
          ? []
          : [folded(t("portal.step_up.challenge"), false, Object.assign(element("pre", "", challenge(context)), { tabIndex: 0 }))]),
      );
    }),
  ];
}
