import type { PolicyCall } from "./budget-policy.ts";
import type { EndpointId } from "./dialect.ts";
import type { NanoUsd } from "./money.ts";

/**
 * validating   its rows are being read and judged; callers cannot see it yet
 * in_progress  rows run
 * canceling    no further row begins; rows that began are awaited
 * finalizing   every row has ended; the result files are being written
 * The others are final.
 */
export type BatchState =
  | "validating"
  | "in_progress"
  | "canceling"
  | "finalizing"
  | "completed"
  | "canceled"
  | "expired"
  | "failed";

export const finalBatchStates: ReadonlySet<BatchState> = new Set(["completed", "canceled", "expired", "failed"]);

/** The API that a batch was created with. It decides the shape of rows and results. */
export type BatchApi = "openai" | "anthropic" | "gemini";

/** `errored`: it has an answer with an error, or its end is unknown. `canceled`, `expired`: it never began. */
export type BatchRowState = "pending" | "running" | "succeeded" | "errored" | "canceled" | "expired";

/** Why a batch was refused. */
export interface BatchError {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** From 1; null: the whole batch. */
  readonly line: number | null;
}

/** Many calls of one endpoint, which run later. Times are Unix milliseconds. */
export interface Batch {
  /** `batch_…`; see `batchIdIn` for the other forms. */
  readonly id: string;
  readonly workspaceId: string;
  readonly groupId: string;
  readonly keyId: string;
  readonly personId?: string;
  readonly actorId?: string;
  readonly api: BatchApi;
  readonly endpoint: EndpointId;
  /** The model of every row; "" if they name several. */
  readonly model: string;
  readonly state: BatchState;
  readonly displayName: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Headers of the creation that each row is sent with. */
  readonly headers: Readonly<Record<string, string>>;
  readonly userAgent: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly inputFileId: string | null;
  /** The bodies of the rows, one after the other, in the blob store; null: removed. */
  readonly inputHash: string | null;
  /** Results, as JSON lines; null: none (yet). */
  readonly outputHash: string | null;
  readonly outputBytes: number;
  readonly outputFileId: string | null;
  readonly errorFileId: string | null;
  /** How long the files of a result are stored; null: until they are deleted. */
  readonly outputLifeMs: number | null;
  readonly errors: readonly BatchError[];
  readonly total: number;
  readonly succeeded: number;
  readonly errored: number;
  readonly canceled: number;
  readonly expired: number;
  readonly costNanoUsd: NanoUsd;
  /** Tokens of rows that succeeded. Cached tokens are part of the input, tokens of reasoning part of the output. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** The budgets that its money is held on: see `budgetNames`. */
  readonly budgets: readonly string[];
  /** Worst cases of consecutive rows, batchPieceRows each. */
  readonly holds: readonly NanoUsd[];
  /** Set if the vendor runs it: the account, and the price of each row. Else the gateway runs it. */
  readonly provider: string | null;
  readonly deployment: string | null;
  readonly upstreamModel: string | null;
  readonly priceVersion: string | null;
  /** The rows in a file of the vendor. */
  readonly uploadId: string | null;
  /** When its creation was sent. Without `upstreamId` its outcome is unknown. */
  readonly submittedAt: number | null;
  readonly upstreamId: string | null;
  /** The vendor's result, in the blob store, and how many of its lines are in the ledger. */
  readonly vendorHash: string | null;
  readonly vendorBytes: number;
  readonly vendorLines: number;
  readonly createdAt: number;
  readonly startedAt: number | null;
  /** When rows ended last, or its vendor accepted it. */
  readonly progressAt: number | null;
  readonly finalizingAt: number | null;
  readonly endedAt: number | null;
  readonly cancelAt: number | null;
  readonly expiresAt: number;
  /** When its result is deleted. */
  readonly deleteAt: number;
  readonly dueAt: number | null;
  /** When its vendor last reported a change by a webhook. */
  readonly hintAt: number | null;
}

/** A row of a batch. Its body is a part of the batch's input. */
export interface BatchRow {
  readonly batchId: string;
  /** From 0. */
  readonly position: number;
  readonly customId: string;
  readonly start: number;
  readonly bytes: number;
  readonly state: BatchRowState;
  /** The process that runs it, or ran it last. */
  readonly owner: string | null;
  readonly httpStatus: number | null;
  /** The body of the answer, as JSON on one line. */
  readonly result: string | null;
}

/** Number of rows in a piece: their money is held together. */
export const batchPieceRows = 1_000;

/** The id of an entry's request, the same each time the row runs. */
export function batchRequestId(batchId: string, position: number): string {
  return `req_${batchId.slice("batch_".length)}${position.toString(36).toUpperCase().padStart(4, "0")}`;
}

const idForms: Readonly<Record<BatchApi, string>> = {
  openai: "batch_",
  anthropic: "msgbatch_",
  gemini: "batches/",
};

/** The id in the form of its API. */
export function batchIdIn(api: BatchApi, id: string): string {
  return idForms[api] + id.slice("batch_".length);
}

/** The id of our rows for an id in the form of an API; null: it has another form. */
export function batchIdOf(api: BatchApi, id: string): string | null {
  const prefix = idForms[api];
  const stem = id.startsWith(prefix) ? id.slice(prefix.length) : "";
  return /^[0-9A-Za-z]{1,64}$/.test(stem) ? `batch_${stem}` : null;
}

/** The call that all rows of a vendor's batch are; undefined: rows are sent one by one, and may differ. */
export function batchHeldCall({
  provider,
  model,
  tags,
}: Pick<Batch, "provider" | "model" | "tags">): (PolicyCall & { readonly provider: string }) | undefined {
  return provider === null ? undefined : { model, provider, tags };
}

/** The id under which the money of one piece is held. */
export function batchHoldId(batchId: string, piece: number): string {
  return `${batchId}:${piece}`;
}

/** The batch and the piece of such an id; null: the hold is not a batch's. */
export function batchHoldOf(holdId: string): { readonly batchId: string; readonly piece: number } | null {
  const [, batchId = "", piece = ""] = /^(batch_\w+):(\d+)$/.exec(holdId) ?? [];
  return batchId === "" ? null : { batchId, piece: Number(piece) };
}
