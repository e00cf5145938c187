// The page for what came too often: counts down, then lets the person try the same again.

import { countdown } from "./countdown.js";

const place = document.getElementById("retry");
const again = document.getElementById("again");
const seconds = Number(place.dataset.seconds);

if (seconds > 0) {
  place.replaceWith(countdown(seconds, () => (again.disabled = false)));
  again.hidden = false;
  // The address stays out of the page: that of a callback has the code in it.
  again.addEventListener("click", () => location.reload());
}
