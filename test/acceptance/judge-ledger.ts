import type { TruthRecord } from "@sluice/simulator";
import type { CallRecord } from "./kill-load.ts";
import { expectedNanoUsd, type LedgerRow } from "./ledger-rows.ts";

export interface Evidence {
  readonly truth: readonly TruthRecord[];
  readonly rows: readonly LedgerRow[];
  readonly calls: readonly CallRecord[];
}

export interface Verdict {
  readonly upstreamAttempts: number;
  readonly ledgerAttempts: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly missing: number;
  readonly duplicates: number;
  readonly wrongTokens: number;
  readonly wrongCost: number;
  /** The most output tokens of an interrupted stream that the upstream sent and the ledger lacks. */
  readonly lostTokensWorst: number;
  /** Intents of calls that never reached the upstream. */
  readonly neverSent: number;
  /** Descriptions of everything that is wrong, at most a hundred. */
  readonly faults: readonly string[];
}

const faultsMax = 100;
/**
 * How many received tokens the ledger may lack. A checkpoint is written every 64 events and is on disk within 50 ms if the machine
 * is not too busy. Tokens that the upstream sent but no caller received are not counted.
 */
const lostTokensMax = 192;

/** Compares the calls that the upstream served, the ledger and what callers received. Pure. */
export function judgeLedger(evidence: Evidence): Verdict {
  const faults: string[] = [];
  const truth = new Map(evidence.truth.map((record) => [record.attempt_id, record]));
  const rows = evidence.rows.filter((row) => row.outcome !== "rejected");
  const byAttempt = new Map(rows.map((row) => [row.attempt_id, row]));

  const missing = evidence.truth.filter((record) => !byAttempt.has(record.attempt_id));
  for (const record of missing) faults.push(`${record.attempt_id} reached the upstream but is not in the ledger`);
  for (const record of evidence.truth)
    if (record.hits > 1) faults.push(`${record.attempt_id} was sent ${record.hits} times`);
  const duplicates = rows.length - byAttempt.size;
  if (duplicates > 0) faults.push(`${duplicates} attempts are in the ledger more than once`);

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
    duplicates,
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
  const report = (what: string): string[] => [`${row.attempt_id} (${row.outcome}, ${row.usage_source}) ${what}`];
  if (record === undefined) {
    if (row.outcome === "succeeded") return report("succeeded without reaching the upstream");
    // After a crash between writing the intent and sending, the gateway cannot know; it charges an estimate of the input only.
    const estimate = row.usage_source === "estimated" ? row.input_uncached : 0;
    return row.output + row.input_uncached + row.cache_read === estimate
      ? []
      : report("has usage although it never reached the upstream");
  }
  if (row.outcome === "succeeded") {
    const recorded = [row.usage_source, row.input_uncached, row.cache_read, row.output].join(" ");
    const input = record.prompt_tokens - record.cached_tokens;
    const served = ["upstream", input, record.cached_tokens, record.output_tokens_emitted].join(" ");
    return recorded === served ? [] : report(`has ${recorded}, but the upstream served ${served}`);
  }
  if (record.status < 400 && row.cost_nano_usd === 0) return report("is free, although the upstream accepted it");
  const lost = record.output_tokens_emitted - row.output;
  if (lost < 0) {
    return report(
      `has ${row.output} output tokens, more than the ${record.output_tokens_emitted} that the upstream sent`,
    );
  }
  return row.outcome === "interrupted" && row.stream && delivered - row.output > lostTokensMax
    ? report(`has ${row.output} of the ${delivered} output tokens that its caller received: too few checkpoints`)
    : [];
}

/** The ledger must agree with the caller: a finished call succeeded; a broken one has at least the output that arrived. */
function callFaults(call: CallRecord, byRequest: ReadonlyMap<string, readonly LedgerRow[]>): string[] {
  if (call.requestId === null) return [];
  const entries = byRequest.get(call.requestId) ?? [];
  if (call.finished) {
    return entries.some((row) => row.outcome === "succeeded")
      ? []
      : [`${call.requestId} was finished for its caller, but is not recorded as succeeded`];
  }
  const cancelled = entries.find((row) => row.outcome === "cancelled");
  if (cancelled === undefined || cancelled.output >= call.delivered) return [];
  return [`${call.requestId}: its caller received ${call.delivered} tokens, but the ledger has ${cancelled.output}`];
}
