import type { SessionRequest } from "@sluice/contract";
import { groupRequests } from "../../requests/request-group.ts";

/** A request of a session, with its attempts added up. */
export interface Turn {
  readonly requestId: string;
  /** Position in the session, from 1. */
  readonly number: number;
  readonly at: number;
  readonly totalMs: number;
  /** The last attempt. */
  readonly last: SessionRequest;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Share of the input that came from a cache; null without input. */
  readonly cacheShare: number | null;
  readonly costUsd: number;
  /** Uses of the provider's tools by class. */
  readonly tools: Readonly<Record<string, number>>;
}

/** The requests of a session in order. `rows`: attempts, oldest first. */
export function turnsOf(rows: readonly SessionRequest[]): readonly Turn[] {
  const byAttempt = new Map(rows.map((row) => [row.attempt_id, row]));
  return groupRequests(rows).flatMap(({ requestId, attempts, last, at, totalMs, ...sums }, index) => {
    const own = attempts.flatMap((attempt) => byAttempt.get(attempt.attempt_id) ?? []);
    const end = byAttempt.get(last.attempt_id);
    if (end === undefined) return [];
    const cached = own.reduce((sum, row) => sum + row.cache_read_tokens, 0);
    const tools: Record<string, number> = {};
    for (const { tool_calls: calls } of own) {
      for (const [name, count] of Object.entries(calls)) tools[name] = (tools[name] ?? 0) + count;
    }
    const { inputTokens, outputTokens, costUsd } = sums;
    const cacheShare = inputTokens === 0 ? null : cached / inputTokens;
    return [
      {
        ...{ requestId, number: index + 1, at, totalMs, last: end, inputTokens, outputTokens, costUsd, cacheShare },
        tools,
      },
    ];
  });
}
