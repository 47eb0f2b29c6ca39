import { bounds, type VideoMaterial } from "#core/index.ts";
import type { Transport } from "#ports/index.ts";
import { fetchBytes } from "#relay/index.ts";
import { type PlacedMedia, sizeOf, type TurnFor } from "./video-turn-for.ts";

/** The turn with what stands at the addresses of its material beside it, for vendors that fetch none. Throws Failure invalid_request. */
export async function fetchMaterial(
  { turn, media }: TurnFor,
  taskId: string,
  transport: Transport,
  signal: AbortSignal,
): Promise<TurnFor> {
  const found: PlacedMedia[] = [...media];
  const material: VideoMaterial[] = [];
  // One after the other: their sum is bounded.
  for (const one of turn.material) {
    if (!/^https?:/i.test(one.url)) {
      material.push(one);
      continue;
    }
    const fetched = await fetchBytes(one.url, { transport, signal }, bounds.inlinedBytesMax - sizeOf(found));
    // The same address elsewhere in the body is not meant.
    const url = `sluice-fetched:${taskId}:${found.length}`;
    found.push({ url, ...fetched });
    material.push({ ...one, url });
  }
  return { turn: { ...turn, material }, media: found };
}
