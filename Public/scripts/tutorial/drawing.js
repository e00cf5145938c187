// In the drawing of app, MSAL, identity platform and Graph, a step of a flow goes its way along the arrows. The timeline says the
// same in words, and loads this with the first step.

import { fine } from "./requests.js";

const wires = Object.fromEntries(["msal", "platform", "graph"].map((name) => [name, document.getElementById(`wire-${name}`)]));
const drawing = document.getElementById("drawing");
const parcel = document.getElementById("parcel");
const label = document.getElementById("parcel-label");
/** Where the words of a wire stand: between the boxes, and below what it is. */
const places = { msal: { x: 104, y: 68, width: 152 }, platform: { x: 150, y: 68, width: 152 }, graph: { x: 92, y: 140, width: 164 } };
const says = document.getElementById("drawing-says");
const isStill = matchMedia("(prefers-reduced-motion: reduce)");

const legDuration = 420; // milliseconds

const out = (wire, what) => ({ wire, what });
const back = (wire, what) => ({ wire, what, isBack: true });

/** The ways that a step goes, each with what is carried, as protocol and tutorial call it. */
const legs = {
  authorize: [out("msal", "acquireToken"), out("platform", "authorize")],
  callback: [back("platform", "code")],
  unreturned: [out("platform", "authorize")],
  redeemed: [out("platform", "code"), back("platform", "tokens"), back("msal", "token")],
  unredeemed: [out("platform", "code"), back("platform", "error"), back("msal", "error")],
  cached: [out("msal", "acquireTokenSilent"), back("msal", "token")],
  refreshed: [out("msal", "acquireTokenSilent"), out("platform", "refresh token"), back("platform", "tokens"), back("msal", "token")],
  silent: [out("msal", "acquireTokenSilent"), out("platform", "refresh token"), back("platform", "error"), back("msal", "error")],
  api: [out("graph", "GET /me"), back("graph", "200")],
  challenge: [out("graph", "GET /me"), back("graph", "401 claims")],
  sign_out: [out("msal", "signout"), out("platform", "logout")],
};

let waiting = [];
let isPlaying = false;
let lastCame = 0;

/** The legs of a step, of which the last says how it ended. */
function ways({ step, outcome, isGood, browser }) {
  // Who signs out of the app alone sends nothing.
  const all = (legs[step] ?? []).slice(0, browser === false ? 1 : undefined).map((leg) => ({ ...leg, isBad: false }));
  const last = all.at(-1);
  if (!last || isGood) return all;
  last.isBad = true;
  if (step === "challenge") return all;
  last.what = /^http_(\d+)$/.exec(outcome)?.[1] ?? outcome.replaceAll("_", " ");
  return all;
}

/** Steps that arrive together are played one after the other; another one takes the place of what plays. */
function come({ detail: { step, outcome, name: title, browser } }) {
  // A button that is pressed has lines in the code, and has not yet come to anything.
  if (!outcome) return;
  // A sign-in that the person cancelled is no fault.
  document.querySelector("#views .news")?.classList.toggle("failed", !fine.has(outcome) && outcome !== "cancelled");
  const isTogether = performance.now() - lastCame < 900;
  lastCame = performance.now();
  if (!isTogether) waiting = [];
  waiting.push({ step, outcome, title, browser, isGood: fine.has(outcome) });
  if (!isPlaying || !isTogether) playAll();
}

let turn = 0;

async function playAll() {
  const mine = ++turn;
  isPlaying = true;
  while (waiting.length > 0 && mine === turn) await play(waiting.shift(), mine);
  if (mine === turn) isPlaying = false;
}

async function play(shown, mine) {
  const all = ways(shown);
  for (const wire of Object.values(wires)) wire.classList.remove("lit", "bad");
  for (const { wire, isBad } of all) {
    wires[wire].classList.add("lit");
    if (isBad) wires[wire].classList.add("bad");
  }
  says.textContent = shown.title ?? "";
  drawing.dataset.step = shown.step;
  for (const leg of isStill.matches ? all.slice(-1) : all) {
    if (mine !== turn) return;
    await move(leg, mine);
  }
}

/** Carries something along a wire; without motion it lies in the middle. */
function move({ wire, what, isBack = false, isBad }, mine) {
  const path = wires[wire];
  const length = path.getTotalLength();
  parcel.parentElement.classList.add("shown");
  parcel.parentElement.classList.toggle("bad", isBad);
  label.textContent = what;
  for (const [name, value] of Object.entries(places[wire])) label.parentElement.setAttribute(name, value);
  const put = (share) => {
    const { x, y } = path.getPointAtLength(length * (isBack ? 1 - share : share));
    parcel.setAttribute("transform", `translate(${x} ${y})`);
  };
  if (isStill.matches) {
    put(.5);
    return Promise.resolve();
  }
  const start = performance.now();
  return new Promise((resolve) => {
    const frame = (now) => {
      const share = Math.min(1, Math.max(0, (now - start) / legDuration));
      // Slow at both ends.
      put(share * share * (3 - 2 * share));
      if (share < 1 && mine === turn) requestAnimationFrame(frame);
      else resolve();
    };
    requestAnimationFrame(frame);
  });
}

document.addEventListener("companion-step", come);
