// An app with native authentication, which the server plays at the demo tenant: a press is a request.

import { Failure, get, post } from "../base/api.js";
import { base, element, leaving, loadFile, t, withElements } from "../base/page.js";
import { swiftFunction } from "./swift.js";

const [requests, reading, swift, request, answer] = ["requests", "reading", "swift", "request", "answer"].map((id) =>
  document.getElementById(id)
);
const [stepButton, wrongButton, againButton] = ["step", "wrong", "again"].map((id) => document.getElementById(id));
const files = ["native-sign-in", "native-sign-up", "native-reset", "native-second-factor"];
const nothing = reading.textContent;

const flow = () => document.querySelector("input[name=flow]:checked").value;

let flows = {};
let play = null;
/** The step that is under way. A flow that begins anew gives up the one before, whose answer is not shown then. */
let current = null;
/** The results of the flow's requests, in the order of the drawing. */
let results = [];

const code = (text) => element("code", "", text);

/** Draws the requests of the flow: those that were made with their answers, and the next one. */
function draw() {
  const position = play?.position ?? 0;
  requests.replaceChildren(...(flows[flow()] ?? []).map((endpoint, index) => {
    const result = results[index];
    const item = element("li", result ? "done" : "", element("span", "way", code(endpoint)));
    if (index === position && !play?.is_over) item.classList.add("next");
    if (index === position) item.setAttribute("aria-current", "step");
    if (result) {
      item.classList.toggle("bad", result.msal.some((each) => each.is_error));
      const method = result.msal[0]?.methods[0];
      item.append(element("span", "back", String(result.status), ...(method ? [" · ", code(method)] : [])));
    }
    return item;
  }));
  stepButton.disabled = play?.is_over === true;
  wrongButton.disabled = !play?.typed;
  wrongButton.textContent = play?.typed && play.typed !== "code" ? t("play.wrong_password") : t("play.wrong_code");
  againButton.disabled = !play;
  const { activeElement } = document;
  if (activeElement.disabled) (activeElement === againButton ? stepButton : againButton).focus();
}

function end() {
  current = null;
  stepButton.ariaBusy = "false";
}

function begin() {
  play = null;
  end();
  results = [];
  reading.replaceChildren(nothing);
  for (const each of [swift, request, answer]) each.replaceChildren();
  draw();
}

/** The sentences about a result of MSAL's. */
function sentences({ methods, is_error, property, state, next }) {
  const names = methods.flatMap((method, index) => [...(index > 0 ? [" / "] : []), code(method)]);
  return [
    methods.length > 0 && withElements(t("play.calls"), { method: element("b", "", ...names) }),
    property ? withElements(t("play.property"), { property: code(property) }) : is_error && [t("play.general")],
    state && withElements(t("play.state"), { state: code(state) }),
    next && withElements(t("play.next"), { request: code(next) }),
  ].filter(Boolean).map((parts) => element("span", is_error ? "bad" : "", ...parts));
}

let sources = null;

/** The app's functions that MSAL calls, out of the Xcode project. */
async function waiting(methods) {
  sources ??= Promise.all(files.map((file) => loadFile(`${base}/assets/projects/${file}.txt`)));
  const all = await sources;
  return methods.map((name) => all.map((source) => swiftFunction(source, name)).find(Boolean) ?? "").filter(Boolean).join("\n\n");
}

async function show(sent, mine) {
  const fields = sent.fields.map(({ name, value }, index) => `${index > 0 ? "&" : ""}${name}=${value}`);
  request.textContent = [`${sent.method} ${sent.path}`, "", ...fields].join("\n");
  answer.textContent = `${sent.status}\n\n${JSON.stringify(sent.answer, null, 2)}`;
  reading.replaceChildren(
    ...sent.msal.flatMap(sentences),
    ...(play.is_over ? [element("span", "", t("play.over"))] : []),
  );
  const methods = sent.msal.flatMap((each) => each.methods);
  const lines = await waiting(methods);
  if (mine === current) swift.textContent = lines || t("play.no_swift");
}

async function step(isWrong) {
  if (current || play?.is_over) return;
  const mine = (current = {});
  stepButton.ariaBusy = "true";
  try {
    const before = play ?? (await post("/api/demo/native", { flow: flow() }));
    if (mine !== current) return;
    const sent = await post("/api/demo/native", { play: before.play, wrong: isWrong });
    if (mine !== current) return;
    play = sent;
    results[before.position] = sent;
    draw();
    await show(sent, mine);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (mine !== current) return;
    begin();
    reading.replaceChildren(element("span", "bad", error.message));
  } finally {
    if (mine === current) end();
  }
}

stepButton.addEventListener("click", () => step(false));
wrongButton.addEventListener("click", () => step(true));
againButton.addEventListener("click", begin);
document.getElementById("flows").addEventListener("change", begin);
document.addEventListener("keydown", (event) => {
  const isElsewhere = event.target.closest("input, pre") || event.altKey || event.ctrlKey || event.metaKey;
  if (event.key !== "ArrowRight" || isElsewhere) return;
  event.preventDefault();
  step(false);
}, { signal: leaving.signal });

flows = (await get("/api/demo/native")).flows;
draw();
