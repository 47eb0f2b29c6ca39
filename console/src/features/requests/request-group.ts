import type { RequestRow } from "@sluice/contract";

/** One request in a list, with its loaded attempts. */
export interface RequestGroup<Row extends RequestRow = RequestRow> {
  readonly requestId: string;
  /** In order of their start. */
  readonly attempts: readonly Row[];
  /** The last loaded attempt. */
  readonly last: Row;
  /** Unix milliseconds at which the first of them began. */
  readonly at: number;
  /** From the arrival of the request, like the time to the first token. */
  readonly totalMs: number;
  readonly firstTokenMs: number | null;
  readonly costUsd: number;
  /** USD held for a pending background response; null once it has ended. */
  readonly heldUsd: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Groups attempts by request. A request takes the position of its first attempt; the order is kept. */
export function groupRequests<Row extends RequestRow>(rows: readonly Row[]): readonly RequestGroup<Row>[] {
  const byRequest = new Map<string, Row[]>();
  for (const row of rows) {
    const attempts = byRequest.get(row.request_id);
    if (attempts === undefined) byRequest.set(row.request_id, [row]);
    else if (attempts.every((each) => each.attempt_id !== row.attempt_id)) attempts.push(row);
  }
  return [...byRequest].map(([requestId, attempts]) => groupOf(requestId, attempts));
}

function groupOf<Row extends RequestRow>(requestId: string, unordered: readonly Row[]): RequestGroup<Row> {
  const attempts = unordered.toSorted((one, other) => one.retry_index - other.retry_index || one.at - other.at);
  const last = attempts.at(-1);
  if (last === undefined) throw new Error("A request without attempts is in no list.");
  const at = Math.min(...attempts.map((each) => each.at));
  const sum = (figure: (row: RequestRow) => number) => attempts.reduce((before, row) => before + figure(row), 0);
  return {
    requestId,
    attempts,
    last,
    at,
    totalMs: last.started_after_ms + last.total_ms,
    firstTokenMs: last.first_token_ms === null ? null : last.started_after_ms + last.first_token_ms,
    costUsd: sum((row) => row.cost_usd),
    heldUsd: last.held_usd,
    inputTokens: sum((row) => row.input_tokens),
    outputTokens: sum((row) => row.output_tokens),
  };
}

/** Duration, or the time so far. */
export function durationOf({ last, totalMs }: RequestGroup): number {
  if (last.outcome !== "pending") return totalMs;
  return Math.max(totalMs, Date.now() - last.at + last.started_after_ms);
}
