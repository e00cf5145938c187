// Presets: settings that are kept in this browser and filled in again with one press. They hold no login hint, and of claims nothing
// that names a person.

import { element, t } from "./page.js";
import { announce, button } from "./buttons.js";

const key = "portal:presets";
const most = 12;
const read = () => JSON.parse(localStorage.getItem(key) ?? "[]");

/** What a preset is called: what is special about it. */
function nameOf({ app, policy, prompt, scope, domain_hint: domain, tenant, claims, max_age: age, acr_values: acr }, apps) {
  const title = apps.find(({ id }) => id === app)?.title ?? app;
  return [title, policy, prompt, scope, domain, tenant, claims && t("portal.field.claims"), age && `max_age ${age}`, acr].filter(Boolean).join(" · ");
}

/** Makes the presets' place: `settings` returns what may be kept, `fill` puts it into the form. */
export function presets(place, apps, { settings, fill }) {
  const list = element("div", "presets");
  function show() {
    const all = read().filter(({ app }) => apps.some(({ id }) => id === app));
    list.replaceChildren(...all.map((preset) => {
      const name = nameOf(preset, apps);
      const remove = button("×", () => {
        localStorage.setItem(key, JSON.stringify(read().filter((each) => JSON.stringify(each) !== JSON.stringify(preset))));
        show();
        announce(t("portal.preset_removed", { name }));
      }, "remove");
      remove.setAttribute("aria-label", t("portal.preset_remove", { name }));
      return element("span", "preset", button(name, () => fill(preset), "use"), remove);
    }));
  }
  const save = button(t("portal.preset_save"), () => {
    const kept = settings();
    const others = read().filter((each) => JSON.stringify(each) !== JSON.stringify(kept));
    localStorage.setItem(key, JSON.stringify([kept, ...others].slice(0, most)));
    show();
    announce(t("portal.preset_saved", { name: nameOf(kept, apps) }));
  });
  save.id = "save-preset";
  place.prepend(save);
  place.after(list);
  show();
}
