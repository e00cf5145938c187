// The checks of a registration in the order in which they are read, and the platform's number in what one has found.

const order = ["mistake", "advice", "unknown", "good"];

/** The checks that leave something to do or to know, worst first, and the good ones. */
export function sorted(checks) {
  const all = [...checks].sort((one, two) => order.indexOf(one.severity) - order.indexOf(two.severity));
  const isGood = ({ severity }) => severity === "good";
  return { open: all.filter((each) => !isGood(each)), good: all.filter(isGood) };
}

/** The number of an error that stands in a detail as a log has it, with its code; null where the detail is a sentence. */
export const rawNumber = (detail) => /\b[a-z]+(?:_[a-z]+)+: .*\b(AAD(?:STS|B2C)\d+)/s.exec(detail)?.[1] ?? null;
