// The flows that the steps of a story form.

/** The outcomes of a step that has gone well. */
export const fine = new Set(["ok", "cache", "refreshed"]);

const longestPause = 3000; // milliseconds from one step of a flow to the next, unless the person is at the provider

/** With each sign-in where it came back: another tab may have done something while it was away. */
function gathered(events) {
  const back = new Map(events.flatMap(({ step, attempt }, place) => (step === "callback" && attempt != null ? [[attempt, place]] : [])));
  const at = ({ step, attempt }, place) => (step === "authorize" && back.has(attempt) ? back.get(attempt) - 0.5 : place);
  return events.map((event, place) => [at(event, place), event]).sort(([one], [other]) => one - other).map(([, event]) => event);
}

/** The steps of each flow, oldest first: one press of a button, and what came of it. */
function grouped(events) {
  const flows = [];
  let previous;
  for (const event of events) {
    if (!previous || begins(event, previous)) flows.push([]);
    flows.at(-1).push(event);
    previous = event;
  }
  return flows;
}

function begins(event, previous) {
  if (["callback", "unreturned"].includes(event.step) || (event.attempt != null && event.attempt === previous.attempt)) return false;
  // Of two tabs, or of two presses of which the first was given up.
  if (event.step === "authorize" && previous.attempt != null) return true;
  if (event.step === "sign_out" || ["sign_out", "authorize"].includes(previous.step)) return true;
  if (Date.parse(event.time) - (event.duration_ms ?? 0) - Date.parse(previous.time) > longestPause) return true;
  // A failure often ends within the same flow: by a sign-in, or by another token for the API that refused this one.
  if (!fine.has(previous.outcome)) return event.step === "token" && !["claims_challenge", "http_401"].includes(previous.outcome);
  return event.step === "authorize" || previous.step === "api" ||
    (event.step === "token" && previous.step === "token" && previous.attempt == null);
}

/** The steps of a flow by their names. What this page asks for only to show it is none of the tutorial's, which has it already. */
function named(flow) {
  let isAgain = false;
  return flow.map((event, place) => {
    const kind = name(event, flow[place - 1]);
    isAgain ||= kind === "silent";
    return { ...event, kind, isAgain };
  }).filter(({ kind }) => kind !== "shown");
}

/** The way in which a token came is a step of its own in the tutorial. */
function name({ step, outcome, attempt }, previous) {
  if (step === "api" && ["claims_challenge", "interaction_required"].includes(outcome)) return "challenge";
  if (step !== "token") return step;
  // A code is redeemed for a sign-in, right after the browser has come back.
  if (!fine.has(outcome) && (attempt != null || previous?.step === "callback")) return "unredeemed";
  if (outcome === "cache" && previous?.step === "token" && previous.outcome === "ok") return "shown";
  return { ok: "redeemed", cache: "cached", refreshed: "refreshed" }[outcome] ?? "silent";
}

/** The flows with their steps by name, oldest first, without those of sign-ins that are `others`. */
export const flowsOf = (events, others = []) =>
  grouped(gathered(events)).filter((steps) => !steps.some(({ attempt }) => others.includes(attempt))).map(named)
    .filter((steps) => steps.length > 0);
