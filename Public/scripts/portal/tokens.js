// The tokens of the chosen application: how long they live, silent and forced refresh, scopes, what is in them.

import { get, post } from "../base/api.js";
import { loadClaims } from "../base/claims-table.js";
import { element, language, t } from "../base/page.js";
import { settings } from "./form.js";
import { foldedTree, purpose } from "./json.js";
import { button, explained, facts, milliseconds, moment, run, statusBox, time } from "./parts.js";

// MARK: Lifetimes

/** When this page last asked the server for something: from then on the session counts its idle time. */
let lastCall = Date.now();
new PerformanceObserver((list) => {
  if (list.getEntries().some(({ name }) => name.includes("/api/"))) lastCall = Date.now();
}).observe({ type: "resource" });

const units = [{ unit: "hour", size: 3600 }, { unit: "minute", size: 60 }, { unit: "second", size: 1 }];
const list = new Intl.ListFormat(language, { type: "unit" });

/** A time in words, by its two largest units: "59 minutes, 12 seconds". */
function duration(seconds) {
  const first = units.findIndex(({ size }) => seconds >= size);
  const parts = units.slice(first, first + 2).map(({ unit, size }, index) => {
    const value = Math.floor((index > 0 ? seconds % units[first].size : seconds) / size);
    return value > 0 ? new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(value) : "";
  });
  return list.format(parts.filter(Boolean));
}

/** A bar that empties each second while it is on the page. `ends` returns milliseconds since 1970. */
function lifetime(title, whole, ends, note) {
  const text = element("span");
  const bar = Object.assign(element("meter"), { min: 0, max: whole, ariaLabel: title });
  const tick = () => {
    const left = Math.max(0, Math.round((ends() - Date.now()) / 1000));
    bar.value = left;
    text.textContent = left > 0
      ? t("portal.left", { left: duration(left), at: moment(ends()) })
      : t("portal.expired", { at: moment(ends()) });
  };
  tick();
  const timer = setInterval(() => (bar.isConnected ? tick() : clearInterval(timer)), 1000);
  return element("div", "lifetime", element("p", "", element("strong", "", title), text), bar, element("small", "", note));
}

function lifetimes(access, device) {
  const bars = [];
  if (access) {
    const { issued_at: issued, expires_on: expires, refresh_on: refresh } = access;
    const whole = expires - (issued ?? Date.now() / 1000);
    bars.push(
      lifetime(
        t("portal.access_token"),
        whole,
        () => expires * 1000,
        refresh ? t("portal.refresh_on", { at: moment(refresh * 1000) }) : "",
      ),
    );
  }
  if (device) {
    const { session_idle_seconds: idle, session_max_seconds: max } = device;
    bars.push(lifetime(t("portal.session"), idle, () => lastCall + idle * 1000, t("portal.session_note", { max: duration(max) })));
  }
  return bars;
}

// MARK: Content

const scopes = ({ scopes: granted, declined_scopes: declined = [] }) =>
  facts([
    [t("portal.granted"), granted.join(" ")],
    [t("portal.declined"), declined.length > 0 ? element("strong", "bad", declined.join(" ")) : t("portal.none")],
  ]);

/** Header and payload; a sentence where there is nothing to decode. */
function decoded(title, token, kind) {
  const parts = [element("h3", "", title)];
  if (!token) parts.push(element("p", "quiet", t("portal.no_token")));
  if (token?.is_jwt === false) parts.push(element("p", "quiet", t("portal.no_jwt", { count: token.characters })));
  if (token?.header) parts.push(purpose(kind, token.header), foldedTree(t("portal.header"), token.header));
  if (token?.payload) parts.push(foldedTree(t("portal.payload"), token.payload, kind));
  return parts;
}

/** The tokens as the server lets them be shown; where it does not, what the last silent request said of them. */
async function content({ application: { id }, mode, tokenDisplay }, last) {
  const device = await get("/api/device").catch(() => null);
  const known = (access) => [...lifetimes(access, device), ...(access ? [scopes(access)] : [])];
  if (mode === "shared") return [...known(last), element("p", "empty", t("portal.hidden_shared"))];
  if (tokenDisplay === "hidden") return [...known(last), element("p", "empty", t("portal.hidden"))];
  try {
    const { access_token: access, id_token: idToken, has_refresh_token: renews } = await get(`/api/${id}/tokens`);
    return [
      ...known(access),
      element("p", "quiet", renews ? t("portal.refresh_token") : t("portal.no_refresh_token")),
      ...decoded(t("portal.access_token"), access, "access"),
      ...decoded(t("portal.id_token"), idToken, "id"),
    ];
  } catch (failure) {
    // A session that is over has no time left.
    return [...(failure.code === "session_expired" ? [] : known(last)), explained(failure)];
  }
}

/** The request for a token, with the further scopes and the tenant of the form. */
function demand({ scopes: configured }, force) {
  const { scope, tenant } = settings();
  return { force_refresh: force, tenant, scopes: scope && [...new Set([...configured, ...scope.split(/\s+/)])] };
}

export async function view(context) {
  await loadClaims();
  const { application } = context;
  const said = statusBox();
  const box = statusBox();
  const shown = element("div", "", ...await content(context));
  const acquire = (label, force) =>
    button(label, (pressed) =>
      run(pressed, box, async () => {
        const began = performance.now();
        const tell = (className, text) =>
          said.replaceChildren(
            `${time(Date.now())} · `,
            element("strong", className, text),
            ` · ${milliseconds(performance.now() - began)}`,
          );
        try {
          const token = await post(`/api/${application.id}/token`, demand(application, force));
          tell("good", token.source === "cache" ? t("portal.from_cache") : t("portal.refreshed"));
          shown.replaceChildren(...await content(context, token));
        } catch (failure) {
          tell("bad", t("portal.not_acquired"));
          throw failure;
        }
      }));
  said.textContent = t("portal.acquire_note");
  said.className = "quiet";
  return [element("p", "buttons", acquire(t("portal.silently"), false), acquire(t("portal.forced"), true)), said, box, shown];
}
