// Messages of MSAL and of Apple's systems that say more than the code beside them, or that come without one.

// The words in lower case, the explanation, and the explanation of the code that they replace, because they know better.
const telling = [
  ["required query schemes", "queries", "scheme"],
  ["is not registered in the app's info.plist", "scheme"],
  ["url scheme found in your app are disallowed: [msauth]", "scheme"],
  ["the bundle id does not match the app", "redirect"],
  ["unable to use token from a different cloud", "cloud", "interaction"],
  ["it is not ciam authority", "ciam"],
  ["authority validation is not supported", "authority"],
  ["non microsoft authority is not supported", "authority"],
  ["unknown or invalid instance", "authority"],
  ["authority must use https", "https"],
  ["only one interactive session is allowed", "running"],
  ["did not receive response from broker", "broker"],
  ["server returned less scopes than requested", "declined"],
  ["fillwithwebviewparameters", "objc"],
  ["msauthv2://broker", "no_app"],
];

// Words that a code or a number would make superfluous.
const weak = [
  ["failed to get items from keychain", "keychain"],
  ["failed to set item into keychain", "keychain"],
  ["client explicitly specifies access group", "keychain"],
  ["user interaction is required", "interaction"],
  ["user cancelled the authorization session", "cancelled"],
  ["user has forgotten their password", "reset"],
];

/** The explanations of the messages in a text: { telling, weak }, each of { title, about, replaces }. */
export function messages(text) {
  const lower = text.replace(/’/g, "'").toLowerCase();
  const found = (rows) =>
    rows.flatMap(([words, about, replaces]) => {
      const place = lower.indexOf(words);
      return place < 0 ? [] : [{ title: `“${text.slice(place, place + words.length)}”`, about, replaces }];
    });
  return { telling: found(telling), weak: found(weak) };
}
