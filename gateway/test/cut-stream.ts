const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Cuts bytes at places, each modulo their length. */
export function cutBytes(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((one, other) => one - other);
  return [...places, bytes.length].map((to, index) => bytes.slice(places[index - 1] ?? 0, to));
}

/** Pushes a stream in pieces through a tap that may reuse its buffer. Returns the text that the tap returned. */
export function pushCut(
  tap: { push(chunk: Uint8Array): Uint8Array },
  stream: string,
  cuts: readonly number[] = [],
): string {
  return decoder.decode(Buffer.concat(cutBytes(encoder.encode(stream), cuts).map((piece) => tap.push(piece).slice())));
}
