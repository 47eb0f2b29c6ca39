import type { SessionRequest, ToolUse } from "@sluice/contract";
import { groupRequests, type RequestGroup } from "../../requests/request-group.ts";

/** A request of a session, with its attempts added up. */
export interface Turn extends RequestGroup<SessionRequest> {
  /** Position in the session, from 1. */
  readonly number: number;
  /** Share of the input that came from a cache; null without input. */
  readonly cacheShare: number | null;
  /** Uses of the provider's tools by class. */
  readonly providerTools: Readonly<Record<string, number>>;
  /** The caller's tools, if bodies were captured and the user may see them. */
  readonly tools: readonly ToolUse[];
}

/** The requests of a session in order. `rows`: attempts, oldest first. */
export function turnsOf(rows: readonly SessionRequest[]): readonly Turn[] {
  return groupRequests(rows).map((group, index) => {
    const { attempts, inputTokens } = group;
    const cached = attempts.reduce((sum, row) => sum + row.cache_read_tokens, 0);
    const providerTools: Record<string, number> = {};
    for (const { tool_calls: calls } of attempts) {
      for (const [name, count] of Object.entries(calls)) providerTools[name] = (providerTools[name] ?? 0) + count;
    }
    const cacheShare = inputTokens === 0 ? null : cached / inputTokens;
    // The gateway omits the field for users who may not see it.
    return { ...group, number: index + 1, cacheShare, providerTools, tools: group.last.tools ?? [] };
  });
}
