// An attempt is opened as a case, on the page that copies its link.

import { get } from "./api.js";
import { caseOf, fragment, stepsOf } from "./case.js";
import { flowsOf } from "./flows.js";
import { base } from "./page.js";

/** The claims of an attempt. Only those of the account that is shown can be asked for. */
async function claimsOf({ app, account }) {
  const { account: shown } = await get(`/api/${app}/account`);
  return shown?.id === account ? get(`/api/${app}/claims`) : {};
}

/** A sign-in of which only its page knows, because none has come back in this session: as the server would have it. */
export function attemptOf({ step, outcome, settings }, { id: app, prompt, scopes }) {
  const ended = step === "unreturned" ? null : outcome;
  return {
    id: "own",
    app,
    settings: { prompt: settings?.login_hint ? null : prompt, ...settings, scopes: [...scopes, ...(settings?.scopes ?? [])] },
    outcome: ended,
    problem: { code: outcome },
    steps: [{ step: "authorize", outcome: ended ?? "ok", attempt: "own" }],
  };
}

/** Opens an attempt at this application. */
export async function openCase(attempt, own) {
  const claims = attempt.outcome === "ok" ? await claimsOf(attempt).catch(() => ({})) : {};
  const { events } = await get(`/api/${attempt.app}/events`).catch(() => ({ events: [] }));
  location.assign(`${base}/native/case${fragment(caseOf({ ...attempt, steps: stepsOf(attempt, flowsOf(events)) }, own, claims))}`);
}
