import type { ConfigSnapshot } from "#core/index.ts";
import type { BlobStore, Clock, Ids, Observer } from "#ports/index.ts";
import type { ProviderClient } from "#provider-client/index.ts";
import type { FileStore } from "./file-store.ts";

export interface FilesDependencies {
  readonly store: FileStore;
  /** Only files are in it, so that bytes that no file needs can be removed. */
  readonly blobs: BlobStore;
  readonly providerClient: ProviderClient;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly observer: Observer;
}
