import { outcomeOf } from "#bodies/index.ts";
import { asFailure, bounds, Failure, type NanoUsd } from "#core/index.ts";
import { callableModels, noModel } from "#identity/index.ts";
import type { RequestFacts } from "#protocols/index.ts";
import { type BatchPlace, batchBodyOf, batchPlaceOf } from "#relay/index.ts";
import type { BatchesOptions } from "../options.ts";
import { hasBudget, type RowCall, rowCall } from "../row-call.ts";

export interface JudgedBatch extends Pick<RowCall, "batch" | "principal" | "protocol" | "signal"> {
  /** The model in the path, for every row; null: rows name their own. */
  readonly pathModel: string | null;
}

export type JudgeDependencies = Pick<BatchesOptions, "relay" | "bodies" | "configSnapshot" | "clock">;

/** The facts of a row, and its body, which may have moved to a thread. Throws Failure for an invalid one. */
export async function readRow(
  { bodies }: Pick<BatchesOptions, "bodies">,
  { protocol, principal, pathModel }: Pick<JudgedBatch, "protocol" | "principal" | "pathModel">,
  body: Uint8Array,
): Promise<{ readonly facts: RequestFacts; readonly body: Uint8Array }> {
  const path = pathModel === null ? null : { model: pathModel, stream: false };
  if (body.length <= bounds.readInPlaceBytesMax) return { facts: protocol.wire.readRequest(body, path), body };
  const { endpoint, wireDialect: dialect } = protocol;
  const done = await bodies.do("read", { endpoint, dialect, path }, body, { owner: principal });
  return { facts: outcomeOf(done).answer.facts, body: done.body };
}

export interface JudgedRow {
  /** The most that the row may cost. */
  readonly most: NanoUsd;
  /** It may have moved to a thread. */
  readonly body: Uint8Array;
  readonly model: string;
  /** The vendor's batch that it can be part of, and the most that it may cost there. null: none. */
  readonly vendor: { readonly place: BatchPlace; readonly most: NanoUsd } | null;
}

/**
 * Judges a row like a call of its endpoint, before anything is sent: its form, the grant of the key, the members that the operator must
 * allow, prices. `maySend`: it may be part of a vendor's batch. Throws Failure.
 */
export async function judgeRow(
  dependencies: JudgeDependencies,
  batch: JudgedBatch,
  requestId: string,
  customId: string,
  sent: Uint8Array,
  maySend: boolean,
): Promise<JudgedRow> {
  const { relay, configSnapshot, clock } = dependencies;
  const { principal, protocol, signal } = batch;
  const { facts, body } = await readRow(dependencies, batch, sent);
  if (facts.stream) throw notInRows("stream");
  if (facts.background === true) throw notInRows("background");
  const models = callableModels(configSnapshot(), principal, facts.model);
  const [model] = models;
  if (model === undefined) throw noModel(configSnapshot(), principal, facts.model);
  const startedMs = clock.monotonic();
  const call = rowCall({
    ...{ requestId, customId, principal, protocol, facts, body, models, signal, startedMs },
    batch: batch.batch,
  });
  const isCounted = hasBudget(principal);
  const most = await relay.judge(call);
  const place = maySend ? batchPlaceOf(model, protocol) : null;
  const isSent = place !== null && batchBodyOf(call, place) !== null;
  const there = isSent && isCounted ? await relay.judge({ ...call, models: [place.model] }) : 0;
  return {
    ...{ most: isCounted ? most : 0, body, model: facts.model },
    vendor: isSent ? { place, most: there } : null,
  };
}

function notInRows(param: string): Failure {
  return new Failure("invalid_request", `Rows of a batch cannot use \`${param}\`.`, { param });
}

/** The failure of a row. Rethrows internal errors. */
export function failureOf(thrown: unknown): Failure {
  const failure = asFailure(thrown);
  if (failure.code === "internal_error" || failure.code === "client_closed") throw thrown;
  return failure;
}
