/** Methods of the runtime's Buffer that its types lack. They do not look up an encoding, which takes longer than a short line. */
interface Latin1Buffer {
  latin1Slice(from: number, to: number): string;
  latin1Write(text: string, at: number): number;
}

export function readLatin1(bytes: Buffer, from: number, to: number): string {
  return (bytes as Buffer & Latin1Buffer).latin1Slice(from, to);
}

/**
 * Writes texts one after the other and returns the position behind them. Joining them first would take several times as long, since
 * the runtime joins strings lazily.
 */
export function writeLatin1(bytes: Buffer, texts: readonly string[], at: number): number {
  let end = at;
  for (const text of texts) end += (bytes as Buffer & Latin1Buffer).latin1Write(text, end);
  return end;
}

export function lengthOf(texts: readonly string[]): number {
  let length = 0;
  for (const text of texts) length += text.length;
  return length;
}
