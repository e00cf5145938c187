// One tab is the kiosk: two would not know of each other's people.

import { app } from "../base/api.js";

const name = `kiosk:${app}`;

/** Takes the kiosk for this tab, if no other has it or `steal` says so; `lost` runs when another tab takes it away. */
export function takeKiosk({ steal = false, lost }) {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    const hold = (lock) => {
      resolve(lock !== null);
      // Held until the page is gone.
      return lock && new Promise(() => {});
    };
    navigator.locks.request(name, steal ? { steal } : { ifAvailable: true }, hold).catch(() => {
      resolve(false);
      lost();
    });
  });
}
