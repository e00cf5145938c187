// A zip archive of texts, without compression: PKWARE's APPNOTE 6.3, 4.3.7 (local header), 4.3.12 (central directory), 4.3.16.

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});
const crc32 = (bytes) => ~bytes.reduce((crc, byte) => crcTable[(crc ^ byte) & 0xff] ^ (crc >>> 8), -1) >>> 0;

/** Bytes of little-endian numbers, each as [value, size]. */
function bytes(...numbers) {
  const view = new DataView(new ArrayBuffer(numbers.reduce((sum, [, size]) => sum + size, 0)));
  let offset = 0;
  for (const [value, size] of numbers) {
    if (size === 2) view.setUint16(offset, value, true);
    else view.setUint32(offset, value, true);
    offset += size;
  }
  return new Uint8Array(view.buffer);
}

const version = [20, 2];
/** Names are UTF-8. */
const flags = [0x0800, 2];
/** Local date and time in the form of MS-DOS (4.4.6): seconds come in pairs, years from 1980. */
const stamp = (date) => [
  [(date.getHours() << 11) | (date.getMinutes() << 5) | (date.getSeconds() >> 1), 2],
  [((date.getFullYear() - 1980) << 9) | ((date.getMonth() + 1) << 5) | date.getDate(), 2],
];
/** Regular files that everyone may read and the owner may write, made on a Unix. */
const unixFile = [0o100644 * 0x10000, 4];

/** The archive as a Blob; `files` are { path, text }, made at this time. */
export function zip(files, date = new Date()) {
  const time = stamp(date);
  const encoder = new TextEncoder();
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { path, text } of files) {
    const [name, content] = [encoder.encode(path), encoder.encode(text)];
    const facts = [flags, [0, 2], ...time, [crc32(content), 4], [content.length, 4], [content.length, 4], [name.length, 2], [0, 2]];
    const local = bytes([0x04034b50, 4], version, ...facts);
    directory.push(bytes([0x02014b50, 4], [(3 << 8) | 20, 2], version, ...facts, [0, 2], [0, 2], [0, 2], unixFile, [offset, 4]), name);
    parts.push(local, name, content);
    offset += local.length + name.length + content.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = bytes([0x06054b50, 4], [0, 2], [0, 2], [files.length, 2], [files.length, 2], [size, 4], [offset, 4], [0, 2]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}
