import type { Assets } from "#assets/index.ts";
import type { BodyWork } from "#bodies/index.ts";
import type { ConfigSnapshot, ExemptRule, HeldMemory, MemoryKind, MemoryOwner, Principal, Task } from "#core/index.ts";
import type { Recorder } from "#ledger/index.ts";
import type { Admission } from "#limits/index.ts";
import type {
  BlobStore,
  Chance,
  Clock,
  Explainer,
  Ids,
  Journal,
  LedgerStore,
  Observer,
  Transport,
} from "#ports/index.ts";
import type { ProviderClient } from "#provider-client/index.ts";
import type { Router } from "#routing/index.ts";
import type { TaskStore } from "./store/task-store.ts";

interface TaskSecrets {
  /** `whsec_` and base64; more than one for a while after the master key has changed. */
  webhookSecrets(workspaceId: string): readonly string[];
  /** What an upstream must show to be heard; not to be guessed. */
  callbackToken(taskId: string): string;
  /** All that may be shown now. */
  callbackTokens(taskId: string): readonly string[];
}

/** What one body or answer takes of the memory that callers share. */
export type HeldRoom = Pick<HeldMemory, "hold" | "release">;

/** Whose reservation a task is; null when the key is gone. */
export type PrincipalOf = (
  holder: Pick<Task, "workspaceId" | "groupId" | "keyId" | "personId">,
) => Principal | null | Promise<Principal | null>;

/** What tasks work with; wired by main. */
export interface VideoTasksOptions {
  readonly store: TaskStore;
  readonly providerClient: ProviderClient;
  /** For what callers name: their material, where their messages go. */
  readonly transport: Transport;
  readonly router: Router;
  readonly admission: Pick<
    Admission,
    "admit" | "check" | "hold" | "settled" | "holdsLast" | "endHold" | "someHolds" | "storedElsewhere"
  >;
  readonly recorder: Pick<Recorder, "refuse">;
  readonly ledger: Pick<LedgerStore, "price">;
  readonly journal: Pick<Journal, "drained">;
  readonly principalOf: PrincipalOf;
  readonly explainer: Pick<Explainer, "explain">;
  readonly configSnapshot: () => ConfigSnapshot;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly chance: Chance;
  readonly observer: Observer;
  /** null: results are not copied, and bodies stay whole in their rows. */
  readonly blobs: BlobStore | null;
  readonly bodies: Pick<BodyWork, "do">;
  /** Removes bytes that nobody uses any more. null: there are none. */
  readonly unusedBlobs: Pick<Assets, "drop"> | null;
  /** What is held for callers: bodies that are being sent, and answers. */
  readonly memory: { open(owner: MemoryOwner, kind: MemoryKind): HeldRoom };
  /** null: there are no assets, so that nothing can refer to one. */
  readonly assets: Pick<Assets, "resolve" | "holders"> | null;
  readonly secrets: TaskSecrets;
  /** What callers and upstreams see of us, without a slash at its end; null: no upstream can call back. */
  readonly publicUrl: string | null;
  /** Private places that callers may be told at. */
  readonly webhookPlaces: readonly ExemptRule[];
  readonly copyResults: () => boolean;
}
