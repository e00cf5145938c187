// The rule by which two attempts are compared: what differs on purpose comes first, and what differs between any two stands apart.

/** Claims of one token: times and random values, what nobody can read, and what the demo's tenant remembers in it. */
const ofToken = new Set(
  "aio at_hash auth_time c_hash demo_claims_nbf demo_expiry exp iat jti login_hint nbf nonce rh s_hash sid uti xms_ftd xms_st".split(" "),
);
/** Claims that say who it is. One person has the same in both, unless something is wrong. */
const ofPerson = new Set(
  "altsecid email emails family_name given_name name oid preferred_username puid sub unique_name upn verified_primary_email".split(" "),
);
/** Claims that decide what somebody may do. */
const ofRights = new Set(["groups", "roles", "wids", "scp"]);

const differsAlways = (claim, isSamePerson) => ofToken.has(claim) || (ofPerson.has(claim) && !isSamePerson);

/**
 * The rows of two attempts, each { term, value } with the `claim` that it is, if it is one. Returns what is `different`, what is
 * different `always`, and the `same`, as [term, one, two]: claims of rights before all other claims.
 */
export function differences(one, two, isSamePerson) {
  const [first, second] = [one, two].map((rows) => new Map(rows.map((row) => [row.term, row])));
  const found = { different: [], always: [], same: [] };
  // A person who is known in one of them has the more rows, and the order.
  const rows = [...new Map([first, second].sort((a, b) => b.size - a.size).flatMap((each) => [...each])).values()];
  const rank = ({ claim }) => (ofRights.has(claim) ? 0 : 1);
  const claims = rows.filter(({ claim }) => claim).sort((a, b) => rank(a) - rank(b));
  for (const row of rows) {
    const { term, claim } = row.claim ? claims.shift() : row;
    const values = [first, second].map((each) => each.get(term)?.value || "–");
    if (values.every((value) => value === "–")) continue;
    const part = values[0] === values[1] ? "same" : differsAlways(claim, isSamePerson) ? "always" : "different";
    found[part].push([term, ...values]);
  }
  return found;
}
