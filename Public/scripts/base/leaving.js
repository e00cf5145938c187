// A kiosk, and each page of a shared device, is emptied when it is left (common.js). What it waits for from outside ends with it.

/** Aborts when the page is emptied: no answer and no event comes to it any more. */
export const leaving = new AbortController();

/** The text of a file that is the same for everybody; an emptied page waits for it for ever. */
export async function loadFile(address) {
  const { signal } = leaving;
  try {
    const response = await fetch(address, { signal });
    const text = await response.text();
    // Until its body is there.
    signal.throwIfAborted();
    if (!response.ok) throw new Error(`${response.status}: ${address}`);
    return text;
  } catch (error) {
    if (signal.aborted) return new Promise(() => {});
    throw error;
  }
}

/** The value of such a file, as JSON has it. */
export const loadJSON = async (address) => JSON.parse(await loadFile(address));
