import type { Chance, Clock, Ids } from "#ports/index.ts";

/** No I, L, O or U, so that ids can be read aloud. https://www.crockford.com/base32.html */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** The last two form a pair, which counts 1,024 milliseconds. */
const timeCharacters = 10;
const randomCharacters = 12;
const counterMax = 1024 * 1024;
/** Randomness is fetched in batches to save system calls. */
const batchIds = 512;

/** Sortable ids: within a millisecond a counter orders them; 60 random bits separate processes and prevent guessing. */
export function createIds(clock: Pick<Clock, "now">): Ids {
  const pairs = Array.from({ length: 1024 }, (_, i) => `${alphabet[i >>> 5]}${alphabet[i & 31]}`);
  const alphabetBytes = new TextEncoder().encode(alphabet);
  const randomBytes = new Uint8Array(batchIds * randomCharacters);
  let random = "";
  let randomUsed = 0;
  let lastMs = -1;
  let lastPairCount = -1;
  let begin = "";
  let time = "";
  let counter = 0;

  const tick = (): void => {
    const nowMs = clock.now();
    if (nowMs <= lastMs && counter < counterMax - 1) {
      counter++;
      return;
    }
    // The clock was set back, or a million ids were made in a millisecond: continue from the last time.
    lastMs = nowMs > lastMs ? nowMs : lastMs + 1;
    const pairCount = Math.floor(lastMs / pairs.length);
    if (pairCount !== lastPairCount) {
      lastPairCount = pairCount;
      begin = encode(pairCount, timeCharacters - 2);
    }
    time = begin + pairs[lastMs % pairs.length];
    counter = 0;
  };

  const refill = (): void => {
    crypto.getRandomValues(randomBytes);
    for (let i = 0; i < randomBytes.length; i++) randomBytes[i] = alphabetBytes[(randomBytes[i] ?? 0) & 31] ?? 0;
    random = new TextDecoder("latin1").decode(randomBytes);
    randomUsed = 0;
  };

  return Object.freeze({
    next(prefix: string): string {
      tick();
      if (randomUsed === random.length) refill();
      const start = randomUsed;
      randomUsed += randomCharacters;
      return prefix + time + pairs[counter >>> 10] + pairs[counter & 1023] + random.slice(start, randomUsed);
    },
  });
}

function encode(number: number, characters: number): string {
  let rest = number;
  let text = "";
  for (let i = 0; i < characters; i++) {
    text = `${alphabet[rest % 32]}${text}`;
    rest = Math.floor(rest / 32);
  }
  return text;
}

export const systemChance: Chance = Object.freeze({ unit: () => Math.random() });
