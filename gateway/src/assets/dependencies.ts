import type { ConfigSnapshot } from "#core/index.ts";
import type { BlobStore, Chance, Clock, Ids, Observer, Transport } from "#ports/index.ts";
import type { ProviderClient } from "#provider-client/index.ts";
import type { AssetStore } from "./asset-store.ts";

export interface AssetsDependencies {
  readonly store: AssetStore;
  readonly blobs: BlobStore;
  readonly providerClient: ProviderClient;
  /** For URLs that callers choose. */
  readonly transport: Transport;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly chance: Chance;
  readonly observer: Observer;
  readonly signer: TextSigner;
  /** The gateway's public URL; null: not configured. */
  readonly publicUrl: () => string | null;
}

/** HMAC, base64url. */
interface TextSigner {
  sign(text: string): string;
  /** All valid signatures, also while a key is being replaced. */
  signatures(text: string): readonly string[];
}
