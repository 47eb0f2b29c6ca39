export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Pixels of a `ratio` (`16:9`) and a `resolution` (`720p`, the lines of the shorter side), both sides even. What one of
 * them leaves open is 16:9 or 720p; null when both do, and when either is not of its form (`adaptive`).
 */
export function frameSize(ratio: string | null, resolution: string | null): FrameSize | null {
  if (ratio === null && resolution === null) return null;
  const shape = /^(\d{1,4}):(\d{1,4})$/.exec(ratio ?? "16:9");
  const lines = /^(\d{2,4})p$/i.exec(resolution ?? "720p");
  if (shape === null || lines === null) return null;
  const across = Number(shape[1]);
  const down = Number(shape[2]);
  const shorter = Number(lines[1]);
  if (across === 0 || down === 0) return null;
  const longer = Math.round((shorter * Math.max(across, down)) / Math.min(across, down) / 2) * 2;
  return across >= down ? { width: longer, height: shorter } : { width: shorter, height: longer };
}

/**
 * The other way round: what `1280x720` is in `ratio` and `resolution`, exactly. null for what is not of that form, and for
 * odd sides, which no video has.
 */
export function shapeOf(size: string): { readonly ratio: string; readonly resolution: string } | null {
  const [, across, down] = /^([1-9]\d{1,3})x([1-9]\d{1,3})$/.exec(size) ?? [];
  if (across === undefined || down === undefined) return null;
  const width = Number(across);
  const height = Number(down);
  if (width % 2 === 1 || height % 2 === 1) return null;
  const divisor = commonDivisor(width, height);
  return { ratio: `${width / divisor}:${height / divisor}`, resolution: `${Math.min(width, height)}p` };
}

function commonDivisor(one: number, other: number): number {
  return other === 0 ? one : commonDivisor(other, one % other);
}
