import type { Provider } from "#core/index.ts";

/** What stands in the place of a reference, and what it is. */
export interface ResolvedAsset {
  /** The reference itself where its bytes have to stand there: they are put in its place by whoever writes the request. */
  readonly url: string;
  readonly inline: InlineAsset | null;
  readonly type: "image" | "video" | "audio";
}

interface InlineAsset {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Reusable material as video tasks refer to it. Both throw asset_not_found for what this workspace does not have. */
export interface AssetResolver {
  /**
   * What an upstream is to be given in the place of `asset://<assetId>`: its own library id, a signed URL, or the bytes
   * themselves. Binds the asset to the account where it is not known there yet. Throws invalid_request when it is not Active.
   */
  resolve(workspaceId: string, assetId: string, account: Provider): Promise<ResolvedAsset>;
  /** Providers that hold all of them already, to be preferred; null when none is. Throws invalid_request as above. */
  holders(workspaceId: string, assetIds: readonly string[]): Promise<readonly string[] | null>;
}
