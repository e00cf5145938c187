// Where the companion is on its host.

/** The path below which all its addresses are, as "/companion"; empty when the host is its own. */
export const base = document.documentElement.dataset.base;
