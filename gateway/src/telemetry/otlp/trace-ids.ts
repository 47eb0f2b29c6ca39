/** 16 bytes as hex, of an id of ours: it holds 60 random bits at least, which is what keeps traces apart. */
export function traceIdFrom(id: string): string {
  return hex(id, 1) + hex(id, 2) + hex(id, 3) + hex(id, 4);
}

/** 8 bytes as hex. */
export function spanIdFrom(id: string): string {
  return hex(id, 5) + hex(id, 6);
}

/** Never zero, which would be no id. */
function hex(id: string, seed: number): string {
  const hash = (Bun.hash.murmur32v3(id, seed) || 1) >>> 0;
  return `${pairs[hash >>> 24]}${pairs[(hash >>> 16) & 255]}${pairs[(hash >>> 8) & 255]}${pairs[hash & 255]}`;
}

const pairs: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
