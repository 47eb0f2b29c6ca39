/** How long a sound is: as it probably is, and at most. Whole seconds. */
export interface AudioSeconds {
  readonly likely: number;
  readonly most: number;
}

/** Speech in the formats that are mostly sent has 32 kbit/s and more, and 6 kbit/s at least. */
const likelyBytesPerSecond = 4_000;
const leastBytesPerSecond = 750;

/** By its own head where it is a WAV file, whose size says its length; else by its size alone. */
export function audioSeconds(begin: Uint8Array, bytes: number): AudioSeconds {
  const rate = waveBytesPerSecond(begin);
  if (rate !== null) {
    const seconds = Math.max(1, Math.ceil(bytes / rate));
    return { likely: seconds, most: seconds + 1 };
  }
  return {
    likely: Math.max(1, Math.ceil(bytes / likelyBytesPerSecond)),
    most: Math.max(1, Math.ceil(bytes / leastBytesPerSecond)) + 1,
  };
}

/** null for what is no WAV file. A rate that no sound has is none: the upstream goes by it too. */
function waveBytesPerSecond(begin: Uint8Array): number | null {
  const bytes = Buffer.from(begin.buffer, begin.byteOffset, begin.byteLength);
  if (bytes.length < 36 || bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WAVE") {
    return null;
  }
  const format = bytes.indexOf("fmt ", 12, "latin1");
  if (format === -1 || format + 20 > bytes.length) return null;
  const rate = bytes.readUInt32LE(format + 16);
  return rate < leastBytesPerSecond || rate > ratesMax ? null : rate;
}

/** Eight channels of 32 bits at 192 kHz. */
const ratesMax = 8 * 4 * 192_000;
