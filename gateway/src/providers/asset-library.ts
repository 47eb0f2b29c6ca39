import type { AssetStatus, AssetType, Failure, PlatformId, Provider } from "#core/index.ts";
import type { BadAnswer, OutboundDraft } from "./outbound-draft.ts";
import type { GoodAnswer } from "./video-adapter.ts";

export interface LibraryAsset {
  readonly upstreamId: string;
  readonly status: AssetStatus;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly url: string | null;
}

interface InLibrary {
  readonly upstreamId: string;
  readonly projectName: string;
}

/**
 * An upstream's asset library, as data and pure functions. Drafts come signed: signing needs only the account's settings
 * and `now` (Unix milliseconds). A bad answer goes to `classify`.
 */
export interface AssetLibrary {
  readonly platform: Exclude<PlatformId, "local">;
  /** null when the account has what is needed (keys), else the sentence that says what is missing. */
  lacks(provider: Provider): string | null;
  createGroup(
    provider: Provider,
    group: { readonly name: string; readonly description: string; readonly projectName: string },
    now: number,
  ): OutboundDraft;
  getGroup(provider: Provider, group: InLibrary, now: number): OutboundDraft;
  deleteGroup(provider: Provider, group: InLibrary, now: number): OutboundDraft;
  createAsset(
    provider: Provider,
    asset: {
      readonly upstreamGroupId: string;
      readonly url: string;
      readonly type: AssetType;
      readonly name: string;
      readonly projectName: string;
    },
    now: number,
  ): OutboundDraft;
  getAsset(provider: Provider, asset: InLibrary, now: number): OutboundDraft;
  deleteAsset(provider: Provider, asset: InLibrary, now: number): OutboundDraft;
  /** Throws Failure upstream_error. */
  readId(answer: GoodAnswer): string;
  readAsset(answer: GoodAnswer): LibraryAsset;
  /** A bad answer: `gone` when the library says that there is no such thing; `code` is its own word, to be told to callers. */
  classify(answer: BadAnswer): { readonly gone: boolean; readonly failure: Failure; readonly code: string | null };
}
