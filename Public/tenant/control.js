const notice = document.getElementById("notice");
const failures = document.getElementById("failures");
const chosen = document.getElementById("chosen");
const search = document.getElementById("search");
const shown = document.getElementById("shown");
const wide = matchMedia("(min-width: 56.01rem)");
let fading;
/** The list in which somebody goes from choice to choice with the keyboard. */
let walked;

/** Lists the choices of a failure that the search has found: otherwise, they are out of sight among the others of a list. */
function showHits(form, words, own) {
  const text = (option) => `${option.text} ${option.title}`.toLowerCase();
  const isFound = (option) =>
    words.some((word) => text(option).includes(word)) && words.every((word) => own.includes(word) || text(option).includes(word));
  const options = [...form.querySelector("select")?.options ?? []];
  const hits = options.filter((option) => option.value && !option.selected && isFound(option));
  if (hits.length === 0) return;
  const row = Object.assign(document.createElement("p"), { className: "hits small", textContent: shown.dataset.hits });
  for (const { text, value, index, parentElement: { label } } of hits.slice(0, 4)) {
    const textContent = label ? `${label}: ${text}` : text;
    const button = { type: "button", className: "link", id: `hit-${form.dataset.key}-${index}`, value, textContent };
    row.append(Object.assign(document.createElement("button"), button));
  }
  if (hits.length > 4) row.append(shown.dataset.more.replace("%1", hits.length - 4));
  form.append(row);
}

/** Hides the failures that lack a word of the search, and the groups in which none is left. A new search opens what it finds, and closes it again. */
function filter({ isNew = true } = {}) {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...failures.querySelectorAll(".setting")];
  for (const each of all) {
    each.querySelector(".hits")?.remove();
    const { key, words: more = "" } = each.dataset;
    const own = [...each.querySelectorAll("label, .title, p, button")].map((part) => part.textContent);
    const titles = [...each.querySelectorAll("option[title]")].map(({ title }) => title).join(" ");
    const text = `${each.textContent} ${titles} ${key} ${more}`.toLowerCase();
    each.hidden = !words.every((word) => text.includes(word));
    if (!each.hidden) showHits(each, words, `${own.join(" ")} ${key} ${more}`.toLowerCase());
  }
  for (const group of failures.children) {
    group.hidden = !group.querySelector(".setting:not([hidden])");
    const isFound = words.length > 0 && !group.hidden;
    if (isNew && isFound && !group.open) group.open = group.dataset.found = true;
    else if (!isFound && group.dataset.found) {
      delete group.dataset.found;
      group.open = group.dataset.on > 0;
    }
  }
  const count = all.filter((each) => !each.hidden).length;
  const text = words.length === 0 ? "" : shown.dataset.text.replace("%1", count).replace("%2", all.length);
  if (shown.textContent !== text) shown.textContent = text;
}

/** In a wide window, the choice and the first group are in sight. */
if (wide.matches) {
  for (const fold of [document.getElementById("for"), failures.firstElementChild]) fold.open = true;
}

/** Takes over what has changed; what somebody has begun to choose elsewhere stays. */
export function update(page) {
  const focused = document.activeElement?.id;
  for (const id of ["now", "chosen", "rest"]) {
    const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (old.innerHTML !== fresh.innerHTML) old.replaceChildren(...fresh.childNodes);
  }
  const fresh = page.getElementById("failures");
  if (fresh.dataset.for === failures.dataset.for) {
    const news = [...fresh.querySelectorAll(".setting")];
    for (const [index, old] of [...failures.querySelectorAll(".setting")].entries()) {
      old.hidden = false;
      old.querySelector(".hits")?.remove();
      if (old.outerHTML !== news[index].outerHTML) old.replaceWith(news[index]);
    }
    for (const [index, group] of [...failures.children].entries()) {
      const { firstElementChild: title, dataset } = fresh.children[index];
      if (dataset.on === group.dataset.on) continue;
      group.querySelector("summary").replaceChildren(...title.childNodes);
      group.open ||= group.dataset.on === "0";
      group.dataset.on = dataset.on;
    }
    filter({ isNew: false });
  } else {
    const open = [...failures.querySelectorAll("details[open] h2")].map((title) => title.textContent);
    failures.dataset.for = fresh.dataset.for;
    failures.replaceChildren(...fresh.childNodes);
    for (const group of failures.children) group.open ||= open.includes(group.querySelector("h2").textContent);
    filter();
  }
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

/** A link on which somebody is stays, and so does what stands below it at the side. */
function fade() {
  const isInUse = ":is(:hover, :focus-within)";
  if (document.querySelector(wide.matches ? `#notice${isInUse}, .side${isInUse}` : `#notice${isInUse}`)) fading = setTimeout(fade, 6000);
  else notice.replaceChildren();
}

/** Shows what was done where people are looking; a refusal stays. */
function say(page, place) {
  clearTimeout(fading);
  notice.className = place;
  notice.replaceChildren(...page.getElementById("notice").childNodes);
  document.body.style.setProperty("--said", `${notice.offsetHeight}px`);
  if (notice.querySelector(".calm")) fading = setTimeout(fade, 6000);
}

async function send(form, button) {
  const data = new URLSearchParams(/** @type {any} */ (new FormData(form, button)));
  const headers = { Accept: "text/html" };
  const isChoice = form.method === "get";
  const top = form.getBoundingClientRect().top;
  const { key } = form.dataset;
  try {
    const answer = await fetch(
      isChoice ? `/control?${data}` : form.action,
      isChoice ? { headers } : { method: "POST", body: data, headers },
    );
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const place = form.closest("#failures");
    update(page);
    const choice = page.getElementById("choice");
    if (isChoice) {
      history.replaceState(null, "", answer.url);
      document.getElementById("choice").replaceWith(choice);
      document.querySelector("#for h2").replaceWith(page.querySelector("#for h2"));
      if (chosen.firstElementChild) {
        // The person or app of the choice comes into sight, with the switches below.
        chosen.focus({ preventScroll: true });
        const { top, bottom } = chosen.getBoundingClientRect();
        if (top < 0 || bottom > innerHeight / 2) chosen.scrollIntoView();
      } else choice.querySelector("button").focus({ preventScroll: true });
    }
    const now = place ? place.querySelector(`.setting[data-key="${key}"]`) : form;
    if (now?.isConnected) scrollBy(0, now.getBoundingClientRect().top - top);
    // On a phone, the half of the window in which nothing has changed.
    const isBelow = now?.isConnected && now.getBoundingClientRect().bottom > innerHeight / 2;
    say(page, isBelow ? "toast above" : "toast");
    if (document.activeElement === document.body) {
      const next = place ? now?.querySelector("button") : document.querySelector("#now h2");
      next?.focus({ preventScroll: true });
    }
  } catch {
    // The tenant has stopped, or asks for its password: the browser says so.
    location.reload();
  }
}

const isChanged = (field) =>
  field.options ? [...field.options].some((each) => each.selected !== each.defaultSelected) : field.value !== field.defaultValue;

/** Sends what was chosen, once. What cannot be is put back. */
function choose(form) {
  const fields = [...form.elements].filter((each) => each.localName !== "button");
  const failure = form.elements[form.dataset.key];
  // The number of times, and the rest of a failure, wait for the failure.
  if (!(failure.value ? fields.some(isChanged) : isChanged(failure))) return;
  const sent = fields.map((each) => each.value).join("\n");
  if (form.dataset.sent === sent) return;
  if (!form.checkValidity()) return form.reset();
  form.dataset.sent = sent;
  send(form);
}

failures.addEventListener("change", ({ target }) => {
  if (target.options && target !== walked && target.closest(".direct")) choose(target.form);
});
failures.addEventListener("focusout", ({ target, relatedTarget }) => {
  const form = target.closest(".direct");
  if (form && !form.contains(relatedTarget)) choose(form);
});
failures.addEventListener("click", ({ target }) => {
  if (!target.closest(".hits button")) return;
  const { form, value } = target;
  const list = form.querySelector("select");
  list.value = value;
  list.focus({ preventScroll: true });
  if (form.matches(".direct")) choose(form);
});
failures.addEventListener("pointerdown", () => walked = undefined);
failures.addEventListener("keydown", (event) => {
  const { target, key, altKey } = event;
  if (!target.options) return;
  // These open the list, and then there is a choice; on a Mac, the arrows do so, too.
  const opens = altKey || key === " " || key.startsWith("Arrow") && navigator.platform.startsWith("Mac");
  walked = opens ? undefined : target;
  if (key === "Enter" && target.closest(".direct")) {
    event.preventDefault();
    choose(target.form);
  }
});
document.addEventListener("submit", (event) => {
  if (!event.target.closest("#now, #failures, #choice, #rest")) return;
  event.preventDefault();
  if (event.target.closest(".direct")) choose(event.target);
  else send(event.target, event.submitter);
});
search.addEventListener("input", () => filter());
// The browser restores what was typed.
addEventListener("pageshow", () => filter());
document.getElementById("language-choice").addEventListener("change", ({ target }) => target.form.submit());
