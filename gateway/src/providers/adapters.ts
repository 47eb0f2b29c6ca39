import type { AssetLibrary } from "./asset-library.ts";
import { providerKind } from "./kinds.ts";
import type { VideoAdapter } from "./video-adapter.ts";

/** How upstreams of this kind make videos; null for a kind that makes none, or that there is not. */
export function videoAdapter(kindId: string): VideoAdapter | null {
  return providerKind(kindId)?.video ?? null;
}

/** The library of reusable material that upstreams of this kind have; null for none. */
export function assetLibrary(kindId: string): AssetLibrary | null {
  return providerKind(kindId)?.library ?? null;
}
