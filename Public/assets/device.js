// What there is to know of the device: what MSAL's device information has as extra information, a browser knows of itself.

/** Whether the browser can say anything of where it runs. What is older, or not on a secure page, cannot. */
export const isAvailable = navigator.storage?.estimate !== undefined;

/** The browser's own name and version, where it says one, else what it sends with each request. */
function browserName() {
  // Chromium's own list has one name that is made up, so that nobody relies on the list.
  const brand = navigator.userAgentData?.brands.findLast(({ brand }) => !/not.?a.?brand/i.test(brand));
  return brand ? `${brand.brand} ${brand.version}` : navigator.userAgent;
}

const megabytes = (bytes) => Math.round(bytes / 1_000_000);

/** Facts of the browser, and of the server's configuration for this device, as they are shown. */
export async function deviceInformation({ mode, session_idle_seconds: idle }) {
  const { usage, quota } = await navigator.storage.estimate();
  return {
    browser: browserName(),
    platform: navigator.userAgentData?.platform || navigator.platform,
    secure_context: isSecureContext,
    storage: { cookies: navigator.cookieEnabled, persistent: await navigator.storage.persisted(), used_mb: megabytes(usage), quota_mb: megabytes(quota) },
    mode: { device: mode, set_by: "server configuration", session_ends_after_idle_seconds: idle },
    not_in_a_browser: ["broker app", "keychain shared by apps", "managed shared device mode"],
  };
}
