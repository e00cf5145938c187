// The seconds until something may be tried again, counted down.

import { element, t } from "./page.js";

/** Counts down for the eye; a screen reader announces it once, when the wait is over. */
export function countdown(seconds, whenOver = () => {}) {
  const left = element("span");
  const over = element("span");
  left.setAttribute("role", "timer");
  over.setAttribute("role", "status");
  const until = Date.now() + seconds * 1000;
  const tick = () => {
    const rest = Math.ceil((until - Date.now()) / 1000);
    left.textContent = rest > 0 ? t("problem.wait", { seconds: rest }) : "";
    if (rest <= 0) {
      over.textContent = t("problem.wait_over");
      whenOver();
    } else {
      setTimeout(tick, 1000);
    }
  };
  setTimeout(tick);
  return element("p", "", left, over);
}
