import type { Assets } from "#assets/index.ts";
import type { BodyWork } from "#bodies/index.ts";
import type {
  ConfigSnapshot,
  ExemptRule,
  HeldMemory,
  MemoryKind,
  MemoryOwner,
  Principal,
  ShadowDenial,
  Task,
} from "#core/index.ts";
import type { Files } from "#files/index.ts";
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
import type { Relay } from "#relay/index.ts";
import type { Router } from "#routing/index.ts";
import type { TaskStore } from "./store/task-store.ts";

interface TaskSecrets {
  /** `whsec_` and base64; several while a changed master key is being replaced. */
  webhookSecrets(workspaceId: string): readonly string[];
  /** The secret in the callback URL that the upstream gets. */
  callbackToken(taskId: string): string;
  /** All tokens that are valid now. */
  callbackTokens(taskId: string): readonly string[];
}

/** The memory of one body or answer, counted against the shared limit. */
export type MemoryHold = Pick<HeldMemory, "hold" | "release">;

/** The principal that a task's money is held for; null if the key was deleted. */
export type PrincipalOf = (
  holder: Pick<Task, "workspaceId" | "groupId" | "keyId" | "personId">,
) => Principal | null | Promise<Principal | null>;

export interface VideoTasksOptions {
  readonly store: TaskStore;
  readonly providerClient: ProviderClient;
  /** For URLs that callers choose: material and webhooks. */
  readonly transport: Transport;
  readonly router: Router;
  readonly admission: Pick<
    Admission,
    "admit" | "check" | "hold" | "holdAt" | "settled" | "holdsLast" | "endHold" | "someHolds" | "storedElsewhere"
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
  /** Called for each accepted task that a grant in shadow mode would have refused. */
  readonly onShadowDenial: (denial: ShadowDenial) => void;
  readonly observer: Observer;
  /** null: results are not copied, and bodies are stored whole in their rows. */
  readonly blobs: BlobStore | null;
  readonly bodies: Pick<BodyWork, "do">;
  /** Removes bytes that nothing uses any more. */
  readonly unusedBlobs: Pick<Assets, "drop"> | null;
  readonly memory: { open(owner: MemoryOwner, kind: MemoryKind): MemoryHold };
  /** null: assets are not configured. */
  readonly assets: Pick<Assets, "resolve" | "holders"> | null;
  readonly files: Pick<Files, "find" | "open"> & { readonly copies: Pick<Files["copies"], "at"> };
  /** The caller's files that a request names, checked by the caller's guardrails. */
  readonly filesNamed: Relay["filesNamed"];
  readonly secrets: TaskSecrets;
  /** The gateway's public URL, without a trailing slash; null: upstreams cannot send callbacks. */
  readonly publicUrl: string | null;
  /** Private targets that webhooks may reach. */
  readonly webhookExemptions: readonly ExemptRule[];
  readonly copyResults: () => boolean;
}
