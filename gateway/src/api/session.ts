import { type CallSession, codingAgentOf, type HeaderReader, isSessionId } from "#core/index.ts";
import type { EndpointProtocol, RequestFacts } from "#protocols/index.ts";
import { sessionTagOf } from "./tags.ts";

/** The header that callers set for the gateway. */
const ownHeader = "x-sluice-session";

/** Claude Code; Codex, newer and older; OpenCode and others; OpenCode's own provider. */
const agentHeaders = [
  ...["x-claude-code-session-id", "session-id", "session_id"],
  ...["x-session-id", "x-session-affinity", "x-opencode-session"],
];

/**
 * The session that the caller names in a header, or its agent writes into the body. null: none. Then the relay uses the response that
 * the call continues, or the beginning of its prompt.
 */
export function namedSession(
  inHead: CallSession | null,
  { endpoint, wireDialect }: EndpointProtocol,
  facts: RequestFacts,
  userAgent: string,
): CallSession | null {
  if (inHead !== null) return inHead;
  const { agentKey, objects } = facts;
  if (agentKey !== undefined) {
    const inBody = wireDialect === "anthropic-messages" ? sessionInUserId(agentKey) : cacheKeyOf(agentKey, userAgent);
    if (inBody !== null && isSessionId(inBody)) return { id: inBody, source: "agent" };
  }
  if (endpoint !== "responses" || objects === undefined || objects.length === 0) return null;
  const conversation = objects.find(({ param }) => param === "conversation");
  return conversation === undefined || !isSessionId(conversation.id) ? null : { id: conversation.id, source: "chain" };
}

/** The session that a header names. */
export function headSession(headers: HeaderReader): CallSession | null {
  const own = headers.get(ownHeader) ?? sessionTagOf(headers);
  if (own !== null && isSessionId(own)) return { id: own, source: "header" };
  for (const name of agentHeaders) {
    const id = headers.get(name);
    if (id !== null && isSessionId(id)) return { id, source: "agent" };
  }
  return null;
}

/** Claude Code's `metadata.user_id`: JSON, in earlier versions `user_…_account_…_session_…`. */
function sessionInUserId(userId: string): string | null {
  return /(?:"session_id":"|_session_)([\w-]+)(?:"|$)/.exec(userId)?.[1] ?? null;
}

/** Agents use their session as the cache key. Other programs share one between conversations. */
function cacheKeyOf(cacheKey: string, userAgent: string): string | null {
  return codingAgentOf(userAgent) === null ? null : cacheKey;
}
