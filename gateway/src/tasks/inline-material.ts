import { bounds, type VideoMaterial, type VideoTurn } from "#core/index.ts";
import type { Transport } from "#ports/index.ts";
import { fetchMedia } from "#relay/index.ts";

/** The turn with its material inside it, for vendors that fetch no addresses. Throws Failure invalid_request. */
export async function inlineMaterial(turn: VideoTurn, transport: Transport, signal: AbortSignal): Promise<VideoTurn> {
  const material: VideoMaterial[] = [];
  let left: number = bounds.inlinedBytesMax;
  // One after the other: their sum is bounded.
  for (const one of turn.material) {
    if (!/^https?:/i.test(one.url)) {
      material.push(one);
      continue;
    }
    const { mediaType, data, size } = await fetchMedia(one.url, { transport, signal }, left);
    left -= size;
    material.push({ ...one, url: `data:${mediaType};base64,${data}` });
  }
  return { ...turn, material };
}
