import type { BodyWork } from "#bodies/index.ts";
import type { Batch, CallerMemory, ConfigSnapshot, Principal } from "#core/index.ts";
import type { Files } from "#files/index.ts";
import type { Admission } from "#limits/index.ts";
import type { BlobStore, Clock, Ids, LedgerStore, Observer } from "#ports/index.ts";
import type { ProviderClient } from "#provider-client/index.ts";
import type { Relay } from "#relay/index.ts";
import type { BatchStore } from "./store/batch-store.ts";

export interface BatchesOptions {
  readonly store: BatchStore;
  readonly blobs: BlobStore;
  readonly files: Pick<Files, "create" | "get" | "open">;
  readonly relay: Pick<Relay, "run" | "judge" | "hasGuardrails">;
  readonly bodies: Pick<BodyWork, "do">;
  readonly providerClient: ProviderClient;
  readonly ledger: Pick<LedgerStore, "price">;
  readonly admission: Pick<
    Admission,
    "hold" | "check" | "countBudgets" | "holdsLast" | "endHold" | "someHolds" | "storedElsewhere"
  >;
  /** The principal of a batch under the current configuration; null if its key was deleted. */
  readonly principalOf: (
    batch: Pick<Batch, "workspaceId" | "groupId" | "keyId" | "personId">,
  ) => Promise<Principal | null>;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly memory: CallerMemory;
  /** The kind of database. */
  readonly flavour: "sqlite" | "postgres";
  /** The id of this process. */
  readonly instanceId: string;
  /** For each process: whether it is alive; if it is not, the time of its last heartbeat (Unix milliseconds). */
  readonly processes: () => Promise<ReadonlyMap<string, { readonly isAlive: boolean; readonly seenAt: number }>>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly observer: Observer;
}
