import type { Provider } from "#core/index.ts";

/** What replaces a reference in a request. */
export interface ResolvedAsset {
  /** The reference itself, when its bytes have to be sent. The writer of the request then puts the bytes there. */
  readonly url: string;
  readonly inline: InlineAsset | null;
  readonly type: "image" | "video" | "audio";
}

interface InlineAsset {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Resolves the assets that video tasks refer to. Both calls throw asset_not_found for an asset of another workspace. */
export interface AssetResolver {
  /**
   * What an upstream gets instead of `asset://<assetId>`: an id of its own library, a signed URL, or the bytes. An asset
   * that the account does not know yet is bound to it first. Throws invalid_request when the asset is not Active.
   */
  resolve(workspaceId: string, assetId: string, account: Provider): Promise<ResolvedAsset>;
  /** The providers that have all of these assets already; they are preferred. null: none is preferred. Throws as above. */
  holders(workspaceId: string, assetIds: readonly string[]): Promise<readonly string[] | null>;
}
