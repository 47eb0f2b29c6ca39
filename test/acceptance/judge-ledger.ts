import type { TruthRecord } from "@sluice/simulator";
import type { CallSeen } from "./kill-load.ts";
import { expectedNanoUsd, type LedgerRow } from "./ledger-rows.ts";

export interface Evidence {
  readonly truth: readonly TruthRecord[];
  readonly rows: readonly LedgerRow[];
  readonly calls: readonly CallSeen[];
}

export interface Verdict {
  readonly upstreamAttempts: number;
  readonly ledgerAttempts: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly missing: number;
  readonly doubled: number;
  readonly wrongTokens: number;
  readonly wrongCost: number;
  /** The most output tokens of one interrupted stream that left the upstream and are not in the ledger. */
  readonly lostTokensWorst: number;
  /** Intents whose call never reached the upstream. */
  readonly neverSent: number;
  /** Every broken promise in words, at most a hundred. */
  readonly faults: readonly string[];
}

const faultsMax = 100;
/**
 * Of what its caller has received. A checkpoint comes every 64 events and is on disk within 50 ms, where the machine has time for
 * both; what the upstream sent and nobody has received is in no gateway's books.
 */
const lostTokensMax = 192;

/** Compares what the upstream saw, what the ledger holds and what callers saw. Pure. */
export function judgeLedger(evidence: Evidence): Verdict {
  const faults: string[] = [];
  const truth = new Map(evidence.truth.map((record) => [record.attempt_id, record]));
  const rows = evidence.rows.filter((row) => row.outcome !== "rejected");
  const byAttempt = new Map(rows.map((row) => [row.attempt_id, row]));

  const missing = evidence.truth.filter((record) => !byAttempt.has(record.attempt_id));
  for (const record of missing) faults.push(`${record.attempt_id} reached the upstream and is not in the ledger`);
  for (const record of evidence.truth)
    if (record.hits > 1) faults.push(`${record.attempt_id} was sent ${record.hits} times`);
  const doubled = rows.length - byAttempt.size;
  if (doubled > 0) faults.push(`${doubled} attempts are in the ledger more than once`);

  const delivered = new Map(evidence.calls.map((call) => [call.requestId, call.delivered]));
  const wrongTokens = rows.flatMap((row) =>
    tokenFaults(row, truth.get(row.attempt_id), delivered.get(row.request_id) ?? 0),
  );
  const wrongCost = rows.filter((row) => row.cost_nano_usd !== expectedNanoUsd(row));
  faults.push(...wrongTokens);
  for (const row of wrongCost) {
    faults.push(`${row.attempt_id} costs ${row.cost_nano_usd} nano-USD instead of ${expectedNanoUsd(row)}`);
  }
  const byRequest = Map.groupBy(rows, (row) => row.request_id);
  faults.push(...evidence.calls.flatMap((call) => callFaults(call, byRequest)));

  return {
    upstreamAttempts: truth.size,
    ledgerAttempts: byAttempt.size,
    outcomes: Object.fromEntries(
      Object.entries(Object.groupBy(rows, (row) => row.outcome)).map(([outcome, some]) => [outcome, some.length]),
    ),
    missing: missing.length,
    doubled,
    wrongTokens: wrongTokens.length,
    wrongCost: wrongCost.length,
    lostTokensWorst: Math.max(0, ...rows.map((row) => lostTokens(row, truth.get(row.attempt_id)))),
    neverSent: rows.filter((row) => !truth.has(row.attempt_id)).length,
    faults: faults.slice(0, faultsMax),
  };
}

function lostTokens(row: LedgerRow, record: TruthRecord | undefined): number {
  return row.outcome === "interrupted" && row.stream ? (record?.output_tokens_emitted ?? 0) - row.output : 0;
}

function tokenFaults(row: LedgerRow, record: TruthRecord | undefined, delivered: number): string[] {
  const say = (what: string): string[] => [`${row.attempt_id} (${row.outcome}, ${row.usage_source}) ${what}`];
  if (record === undefined) {
    if (row.outcome === "succeeded") return say("succeeded without an upstream");
    // A process that dies between writing the intent and sending cannot tell: the input alone is booked as a guess.
    const guess = row.usage_source === "estimated" ? row.input_uncached : 0;
    return row.output + row.input_uncached + row.cache_read === guess
      ? []
      : say("has usage although it never reached the upstream");
  }
  if (row.outcome === "succeeded") {
    const told = [row.usage_source, row.input_uncached, row.cache_read, row.output].join(" ");
    const input = record.prompt_tokens - record.cached_tokens;
    const served = ["upstream", input, record.cached_tokens, record.output_tokens_emitted].join(" ");
    return told === served ? [] : say(`has ${told}, but the upstream served ${served}`);
  }
  if (record.status < 400 && row.cost_nano_usd === 0) return say("is free, although the upstream took it");
  const lost = record.output_tokens_emitted - row.output;
  if (lost < 0) {
    return say(`has ${row.output} output tokens, more than the ${record.output_tokens_emitted} that left the upstream`);
  }
  return row.outcome === "interrupted" && row.stream && delivered - row.output > lostTokensMax
    ? say(`has ${row.output} of the ${delivered} output tokens that its caller received: its checkpoints were too few`)
    : [];
}

/** What a caller saw must be in the ledger: a finished call as succeeded, a broken one with at least what arrived. */
function callFaults(call: CallSeen, byRequest: ReadonlyMap<string, readonly LedgerRow[]>): string[] {
  if (call.requestId === null) return [];
  const own = byRequest.get(call.requestId) ?? [];
  if (call.finished) {
    return own.some((row) => row.outcome === "succeeded")
      ? []
      : [`${call.requestId} was finished for its caller, but did not succeed in the ledger`];
  }
  const cancelled = own.find((row) => row.outcome === "cancelled");
  if (cancelled === undefined || cancelled.output >= call.delivered) return [];
  return [`${call.requestId} delivered ${call.delivered} tokens and has ${cancelled.output} in the ledger`];
}
