import { failureCause, failureCauses } from "@sluice/contract/words";
import { type Failure, inputTokensOf, type LedgerEntry, outputTokensOf } from "#core/index.ts";
import type { AttemptFault, AttemptSums } from "#ports/index.ts";
import type { Call } from "../call.ts";
import { mayConcernObject } from "./upstream-refusal.ts";

interface FailedAttempt {
  readonly call: Pick<Call, "operation" | "facts">;
  readonly upstreamStatus: number | null;
  /** What went wrong, with what the upstream said; without credentials. */
  readonly words: () => string;
}

/** Why an attempt failed, for log and metrics. */
export function faultOf(failure: Failure, { call, upstreamStatus, words }: FailedAttempt): AttemptFault {
  const { code, upstream, accountFault, cools, retry } = failure;
  const status = upstream?.status ?? upstreamStatus;
  const cause = failureCause({
    ...{ code, status, accountFault },
    lacksModel: cools === "now" && (status === 403 || status === 404),
    spent: cools === "now" && retry === "other",
    namesObject: call.operation !== undefined || mayConcernObject(call.facts, status ?? 0),
  });
  // Of a request that it refuses an upstream may quote what was written in it.
  const mayQuote = code === "upstream_error" && failureCauses[cause].fault === "caller";
  return { cause, message: mayQuote ? `The upstream refused the request (${status}).` : words() };
}

/** Adds a settled attempt to the sums of its request. `sums` undefined: nobody adds them up. */
export function addUp(sums: AttemptSums | undefined, entry: LedgerEntry | null, fault: AttemptFault | null): void {
  if (sums === undefined || entry === null) return;
  sums.count++;
  sums.inputTokens += inputTokensOf(entry.usage);
  sums.outputTokens += outputTokensOf(entry.usage);
  sums.costNanoUsd += entry.costNanoUsd;
  sums.last = entry;
  sums.fault = fault;
}
