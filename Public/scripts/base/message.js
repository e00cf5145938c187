// The pages with one message, for errors and for those who are signed out: on a shared device, and for a visitor of a kiosk's
// preview, the way back to the kiosk, which nobody has to press.

import { get } from "./api.js";
import { base, t } from "./page.js";

const back = document.getElementById("back");
const text = document.getElementById("on-shared");
const isVisitor = document.documentElement.classList.contains("visitor");

/** The next person begins where this one did. */
function goBackTo({ id, title }, until) {
  const go = () => location.replace(`${base}/${id}`);
  back.href = `${base}/${id}`;
  back.textContent = t("message.back_now", { title });
  back.addEventListener("click", (event) => {
    event.preventDefault();
    go();
  });
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    if (left <= 0) return go();
    text.textContent = t("message.countdown", { title, seconds: left });
    setTimeout(tick, 250);
  };
  tick();
}

async function start() {
  let answer;
  try {
    answer = await get("/api/apps");
  } catch {
    // A kiosk must not stay here because the server was away for a moment.
    return setTimeout(start, 5000);
  }
  const { apps, mode } = answer;
  const kiosk = (mode === "shared" || isVisitor) && apps.find(({ page }) => page === "kiosk");
  if (kiosk) goBackTo(kiosk, Date.now() + Number(text.dataset.seconds) * 1000);
}

await start();
