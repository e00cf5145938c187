// The profile card: what Microsoft Graph says of the person, or what is known of the account.

import { fetchOwn } from "../base/api.js";
import { element, language, t } from "../base/page.js";

export { getMe } from "../base/api.js";

const badge = document.getElementById("badge");
const front = document.getElementById("front");
const reverse = document.getElementById("reverse");
const hello = document.getElementById("hello");

/** A picture is for the eye; the name stands below it. */
function avatar(name, ...content) {
  const made = element(name, "avatar", ...content);
  made.ariaHidden = true;
  return made;
}

/** Fills the card; `me` is Graph's answer, null while there is none. */
export function showCard(account, me) {
  const name = me?.displayName || account.name || account.username;
  // Whole names break the line, and only Graph knows which part of one a person is called by.
  hello.textContent = me?.givenName ? t("kiosk.hello", { name: me.givenName }) : t("kiosk.hello_somebody");
  const mail = me?.mail || me?.userPrincipalName || account.username;
  front.replaceChildren(
    picture(front, name),
    element("p", "name", name),
    ...(me?.jobTitle ? [element("p", "job", me.jobTitle)] : []),
    facts(
      [t("kiosk.mail"), mail],
      me?.mobilePhone ? [t("kiosk.phone"), me.mobilePhone] : [t("kiosk.business_phone"), me?.businessPhones?.[0]],
    ),
  );
  reverse.replaceChildren(
    picture(reverse, name),
    facts(
      [t("kiosk.organization"), /@(?!outlook\.|hotmail\.|live\.)(.+)$/.exec(mail)?.[1]],
      [t("kiosk.office"), me?.officeLocation],
      [t("kiosk.language"), languageName(me?.preferredLanguage)],
    ),
  );
}

const picture = (face, name) => face.querySelector("canvas") ?? avatar("span", initials(name));

/** The facts that are known, each with its name. */
function facts(...all) {
  const known = all.filter(([, value]) => value);
  return element("dl", "", ...known.map(([term, value]) => element("div", "", element("dt", "", term), element("dd", "", value))));
}

/** The side that shows, of which alone the other is neither read nor reached. */
function show(isReverse) {
  badge.classList.toggle("turned", isReverse);
  front.inert = isReverse;
  reverse.inert = !isReverse;
}

document.getElementById("turn").addEventListener("click", () => show(!badge.classList.contains("turned")));

/** Puts the photo in the place of the initials. It is drawn, so that no address and no cache keeps it. */
export async function showPhoto(id, isStillShown) {
  try {
    const response = await fetchOwn(`/api/${id}/me/photo`);
    if (!response.ok) return;
    const photo = await createImageBitmap(new Blob([response.body]));
    if (!isStillShown()) return photo.close();
    for (const face of [front, reverse]) {
      const canvas = avatar("canvas");
      Object.assign(canvas, { width: photo.width, height: photo.height });
      canvas.getContext("2d").drawImage(photo, 0, 0);
      face.querySelector(".avatar").replaceWith(canvas);
    }
    photo.close();
  } catch {
    // The initials stay.
  }
}

/** Takes everything of the person off the page. */
export function clearCard() {
  front.replaceChildren();
  reverse.replaceChildren();
  show(false);
  hello.textContent = "";
}

function initials(name) {
  const words = name.replace(/@.*/, "").split(/[\s._-]+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words;
  return letters.map((word) => [...word][0]).join("").toLocaleUpperCase(language);
}

function languageName(tag) {
  try {
    return tag && new Intl.DisplayNames([language], { type: "language" }).of(tag);
  } catch {
    return tag;
  }
}
