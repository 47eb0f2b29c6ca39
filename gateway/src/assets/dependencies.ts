import type { ConfigSnapshot } from "#core/index.ts";
import type { BlobStore, Chance, Clock, Ids, Observer, Transport } from "#ports/index.ts";
import type { ProviderClient } from "#provider-client/index.ts";
import type { AssetStore } from "./asset-store.ts";

/** What this module depends on. */
export interface AssetsDependencies {
  readonly store: AssetStore;
  readonly blobs: BlobStore;
  readonly providerClient: ProviderClient;
  /** For the addresses that callers name. */
  readonly transport: Transport;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly chance: Chance;
  readonly observer: Observer;
  readonly signer: TextSigner;
  /** Where upstreams and callers reach us; null when nobody has said. */
  readonly publicUrl: () => string | null;
}

/** HMAC with a secret that nobody else has, base64url. */
interface TextSigner {
  sign(text: string): string;
  /** All that are valid for the text now. */
  signatures(text: string): readonly string[];
}
