import { bounds, type VideoTurn } from "#core/index.ts";
import type { Transport } from "#ports/index.ts";
import { type FetchedBytes, fetchBytes } from "#relay/index.ts";

/** What stands at the addresses of a turn, for vendors that fetch none. Throws Failure invalid_request. */
export async function fetchMaterial(
  { material }: Pick<VideoTurn, "material">,
  transport: Transport,
  signal: AbortSignal,
): Promise<readonly (FetchedBytes & { readonly url: string })[]> {
  const found: (FetchedBytes & { readonly url: string })[] = [];
  let left: number = bounds.inlinedBytesMax;
  // One after the other: their sum is bounded.
  for (const { url } of material) {
    if (!/^https?:/i.test(url)) continue;
    const media = await fetchBytes(url, { transport, signal }, left);
    left -= media.bytes.length;
    found.push({ ...media, url });
  }
  return found;
}
