// A case: one sign-in as a file that says nothing about who and where. Made here of an attempt, and read as something hostile.

const largest = 8192; // bytes
/** A longer story keeps its newest steps. */
export const mostSteps = 20;
const kinds = ["workforce", "external", "b2c", "oidc"];
/** The values of `prompt` that a sign-in may have; with `if_necessary` the parameter is left out. */
export const prompts = ["if_necessary", "select_account", "login", "consent", "create", "none"];
/** The pages at which a sign-in is replayed. A kiosk's shows no story. */
const pages = ["ios", "macos", "external", "b2c", "portal"];
const givens = ["login_hint", "domain_hint", "tenant", "policy", "claims", "max_age", "acr_values"];
/** The numbers with which the demo's tenant fails on demand, at each of its two endpoints. */
export const causable = new Set([
  "AADSTS16000",
  "AADSTS50011",
  "AADSTS50020",
  "AADSTS50034",
  "AADSTS50055",
  "AADSTS50057",
  "AADSTS50058",
  "AADSTS50076",
  "AADSTS50079",
  "AADSTS50105",
  "AADSTS50173",
  "AADSTS50194",
  "AADSTS50196",
  "AADSTS53000",
  "AADSTS53001",
  "AADSTS53003",
  "AADSTS53005",
  "AADSTS54005",
  "AADSTS65001",
  "AADSTS65004",
  "AADSTS70008",
  "AADSTS70011",
  "AADSTS70043",
  "AADSTS90002",
  "AADSTS90033",
  "AADSTS90094",
  "AADSTS500011",
  "AADSTS500112",
  "AADSTS700016",
  "AADSTS700025",
  "AADSTS700027",
  "AADSTS700082",
  "AADSTS7000215",
  "AADSTS7000218",
  "AADSTS7000222",
  "AADB2C90077",
  "AADB2C90091",
  "AADB2C90118",
]);
const fine = ["ok", "cache", "refreshed"];
const targets = ["authorize", "token", "api"];
const types = ["string", "number", "boolean", "array", "object"];
/** Scopes and claims that name no one's application. */
const scopesOfAll = new Set([
  "openid",
  "profile",
  "email",
  "offline_access",
  "user.read",
  "user.read.all",
  "user.readbasic.all",
  "user.readwrite",
  "mail.read",
  "mail.send",
  "calendars.read",
  "contacts.read",
  "files.read",
  "group.read.all",
  "groupmember.read.all",
  "directory.read.all",
  "application.read.all",
]);
const claimsOfAll = new Set([
  "acct",
  "acr",
  "acrs",
  "aio",
  "amr",
  "at_hash",
  "aud",
  "auth_time",
  "azp",
  "c_hash",
  "email",
  "email_verified",
  "exp",
  "family_name",
  "given_name",
  "groups",
  "hasgroups",
  "iat",
  "idp",
  "ipaddr",
  "iss",
  "locale",
  "login_hint",
  "name",
  "nbf",
  "oid",
  "preferred_username",
  "rh",
  "roles",
  "scp",
  "sid",
  "sub",
  "tfp",
  "tid",
  "upn",
  "uti",
  "ver",
  "wids",
  "xms_cc",
  "xms_edov",
  "_claim_names",
  "_claim_sources",
]);

/** The reason why a text is no case: the name of a sentence of the page, and the place. */
export class NoCase extends Error {
  constructor(reason, place = "") {
    super(reason);
    this.reason = reason;
    this.place = place;
  }
}

const typeOf = (value) => (Array.isArray(value) ? "array" : value === null ? "null" : typeof value);

// MARK: Making

const shortScope = (scope) => scope.replace(/^https:\/\/graph\.microsoft\.com\//i, "");

/** Graph's and OpenID Connect's scopes as they are, all others by their number. */
function scopesOf(scopes) {
  const own = [];
  return scopes.map((scope) => {
    const short = shortScope(scope);
    if (scopesOfAll.has(short.toLowerCase())) return short;
    if (!own.includes(scope)) own.push(scope);
    return `api://…/scope${own.indexOf(scope) + 1}`;
  });
}

function claimsOf(claims) {
  let count = 0;
  return Object.fromEntries(
    Object.entries(claims).slice(0, 60).map((
      [name, value],
    ) => [claimsOfAll.has(name) ? name : `claim${(count += 1)}`, typeOf(value) === "null" ? "object" : typeOf(value)]),
  );
}

/**
 * The steps of a sign-in, with what came before it in its flow: a silent call that failed, an API that demanded more. Another sign-in there
 * had other settings.
 */
export function stepsOf({ id, steps }, flows) {
  const flow = flows.find((each) => each.some(({ attempt }) => attempt === id)) ?? steps;
  return flow.slice(0, 1 + flow.findLastIndex(({ attempt }) => attempt === id)).filter(({ attempt = id }) => attempt === id);
}

/** The case of an attempt as the portal has it, at an application of this kind and page. `claims` are those of the ID token, of which only names and types are kept. */
export function caseOf({ settings, steps, problem, outcome }, { kind, page }, claims = {}) {
  const given = givens.filter((name) => settings[name] != null && settings[name] !== false && settings[name] !== "");
  const found = {
    case: 1,
    companion: "1",
    kind,
    ...(pages.includes(page) ? { page } : {}),
    settings: { prompt: settings.prompt ?? "if_necessary", scopes: scopesOf(settings.scopes), given },
    outcome: { code: problem?.code ?? (outcome === "ok" ? "ok" : outcome ?? "unfinished") },
    steps: steps.slice(-mostSteps).map(({ step, outcome: came, duration_ms: ms, error }) => {
      const status = /^http_(\d{3})$/.exec(came)?.[1];
      return {
        step,
        outcome: came,
        ...(targets.includes(step) ? { to: step } : {}),
        ...(status ? { status: Number(status) } : {}),
        ...(ms == null ? {} : { ms }),
        ...(word.test(error ?? "") ? { error } : {}),
      };
    }),
    claims: claimsOf(claims),
  };
  if (problem?.explanation?.number) found.outcome.number = problem.explanation.number;
  return found;
}

/**
 * The failure with which the demo repeats a case, as `page-50011`: where it has happened, and its number. Null where it can't. One that has
 * not come back has ended on the provider's page.
 */
export function replayOf({ outcome: { code, number }, steps }) {
  if (!causable.has(number)) return null;
  const failed = steps.findLast((step) => !fine.includes(step.outcome))?.step;
  const place = code === "unfinished" ? "page" : { authorize: "authorize", callback: "authorize", token: "token" }[failed];
  return place ? `${place}-${number.slice("AADSTS".length)}` : null;
}

// MARK: Reading

const word = /^[a-z][a-z0-9_]{0,39}$/;
const number = /^(?:AADSTS|AADB2C)\d{4,9}$/;
const scope = /^(?:[A-Za-z_.]{1,60}|api:\/\/…\/scope\d{1,2})$/;

const check = (holds, place) => {
  if (!holds) throw new NoCase("wrong", place);
};

/** Exactly these keys, of which those with a question mark may be missing. */
function keys(value, place, names) {
  check(typeOf(value) === "object", place);
  const [needed, known] = [names.filter((name) => !name.endsWith("?")), names.map((name) => name.replace("?", ""))];
  for (const name of needed) check(Object.hasOwn(value, name), `${place}.${name}`);
  for (const name of Object.keys(value)) check(known.includes(name), `${place}.${name.slice(0, 40)}`);
}

const isList = (value, most) => Array.isArray(value) && value.length <= most;
const isCount = (value, most) => Number.isInteger(value) && value >= 0 && value <= most;

/** Reads a case; throws NoCase with the place that is wrong. Nothing of it is taken that is not one of the words that a case may have. */
export function readCase(text) {
  if (new TextEncoder().encode(text).length > largest) throw new NoCase("large");
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    throw new NoCase("no_json");
  }
  check(typeOf(found) === "object", "case");
  if (found.case !== 1) throw new NoCase("version");
  keys(found, "case", ["case", "companion", "kind", "page?", "settings", "outcome", "steps", "claims", "replay?"]);
  check(typeof found.companion === "string" && /^[0-9a-z.+-]{1,40}$/.test(found.companion), "companion");
  check(kinds.includes(found.kind), "kind");
  check(found.page === undefined || pages.includes(found.page), "page");
  keys(found.settings, "settings", ["prompt", "scopes", "given"]);
  check(prompts.includes(found.settings.prompt), "settings.prompt");
  check(
    isList(found.settings.scopes, 30) && found.settings.scopes.every((each) => typeof each === "string" && scope.test(each)),
    "settings.scopes",
  );
  check(isList(found.settings.given, givens.length) && found.settings.given.every((each) => givens.includes(each)), "settings.given");
  keys(found.outcome, "outcome", ["code", "number?", "suberror?"]);
  check(typeof found.outcome.code === "string" && word.test(found.outcome.code), "outcome.code");
  check(
    found.outcome.number === undefined || (typeof found.outcome.number === "string" && number.test(found.outcome.number)),
    "outcome.number",
  );
  check(
    found.outcome.suberror === undefined || (typeof found.outcome.suberror === "string" && word.test(found.outcome.suberror)),
    "outcome.suberror",
  );
  check(isList(found.steps, mostSteps), "steps");
  for (const [index, step] of found.steps.entries()) {
    const place = `steps.${index}`;
    keys(step, place, ["step", "outcome", "to?", "status?", "ms?", "error?"]);
    check(["authorize", "callback", "token", "api", "sign_out"].includes(step.step), `${place}.step`);
    check(typeof step.outcome === "string" && word.test(step.outcome), `${place}.outcome`);
    check(step.to === undefined || targets.includes(step.to), `${place}.to`);
    check(step.status === undefined || isCount(step.status, 599), `${place}.status`);
    check(step.ms === undefined || isCount(step.ms, 86_400_000), `${place}.ms`);
    check(step.error === undefined || (typeof step.error === "string" && word.test(step.error)), `${place}.error`);
  }
  check(typeOf(found.claims) === "object" && Object.keys(found.claims).length <= 60, "claims");
  for (const [name, type] of Object.entries(found.claims)) {
    check((claimsOfAll.has(name) || /^claim\d{1,2}$/.test(name)) && types.includes(type), "claims");
  }
  if (found.replay !== undefined) {
    keys(found.replay, "replay", ["kind"]);
    // Older links say it; the outcome and the steps say more.
    check(typeof found.replay.kind === "string" && word.test(found.replay.kind), "replay.kind");
  }
  return found;
}

// MARK: In a link

/** A case as the fragment of an address, which a browser sends nowhere. It can be read by eye, and does not look like a token. */
export const fragment = (found) => `#case=${encodeURIComponent(JSON.stringify(found))}`;

/** The text of a case in a fragment; null if there is none. */
export function ofFragment(hash) {
  if (!hash.startsWith("#case=") || hash.length > 4 * largest) return null;
  try {
    return decodeURIComponent(hash.slice("#case=".length));
  } catch {
    return "";
  }
}
