// IDs that are made from a name, as the demo's tenant makes them: the same at each start, and the same here.

const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) | 0;
const primes = [];
for (let number = 2; primes.length < 64; number += 1) if (primes.every((prime) => number % prime)) primes.push(number);
const constants = primes.map((prime) => fraction(Math.cbrt(prime)));
const start = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const turned = (word, by) => (word >>> by) | (word << (32 - by));

/** SHA-256 (FIPS 180-4) of a text, as bytes. The browser's own is asynchronous, and there is none without https. */
function sha256(text) {
  const bytes = new TextEncoder().encode(text);
  const padded = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / 64) * 64));
  new Uint8Array(padded.buffer).set([...bytes, 0x80]);
  padded.setUint32(padded.byteLength - 4, bytes.length * 8);
  const state = [...start];
  for (let block = 0; block < padded.byteLength; block += 64) {
    const schedule = [];
    for (let index = 0; index < 64; index += 1) {
      const [near, far] = [schedule[index - 2], schedule[index - 15]];
      schedule[index] = index < 16 ? padded.getInt32(block + index * 4)
        : (schedule[index - 16] + schedule[index - 7] + (turned(far, 7) ^ turned(far, 18) ^ (far >>> 3)) + (turned(near, 17) ^ turned(near, 19) ^ (near >>> 10))) | 0;
    }
    let [a, b, c, d, e, f, g, h] = state;
    schedule.forEach((word, index) => {
      const first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + constants[index] + word) | 0;
      const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    });
    [a, b, c, d, e, f, g, h].forEach((word, index) => (state[index] = (state[index] + word) | 0));
  }
  return state.flatMap((word) => [24, 16, 8, 0].map((shift) => (word >>> shift) & 0xff));
}

/** The client ID that the demo's tenant gives an app with this bundle ID (DemoClient.id). */
export function demoClientID(bundleID) {
  const bytes = sha256(`companion client ${bundleID.toLowerCase()}`).slice(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
