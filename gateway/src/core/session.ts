import type { sessionSources } from "@sluice/contract/words";

/**
 * How the session of a call was recognized, most reliable first. `header`: the caller named it for the gateway. `agent`: a header or a
 * member of the body that a coding agent sets. `chain`: the call continues a stored response or conversation. `prefix`: inferred from
 * the beginning of its prompt.
 */
export type SessionSource = (typeof sessionSources)[number];

/** The conversation that a call belongs to. Its id is the caller's choice, so it means something only together with the API key. */
export interface CallSession {
  readonly id: string;
  readonly source: SessionSource;
}

/** Visible ASCII of a limited length, and not only dots, which are special in paths. */
export function isSessionId(id: string): boolean {
  return sessionIdPattern.test(id);
}

const sessionIdPattern = /^(?!\.+$)[\x21-\x7e]{1,128}$/;

/** Coding agents by the beginning of their user agent. */
const agents: readonly (readonly [beginning: string, name: string])[] = [
  ["claude-cli/", "Claude Code"],
  ["codex", "Codex"],
  ["opencode/", "OpenCode"],
  ["geminicli", "Gemini CLI"],
  ["qwencode/", "Qwen Code"],
  ["cline/", "Cline"],
  ["roocode/", "Roo Code"],
  ["kilo-code/", "Kilo Code"],
  ["crush/", "Crush"],
  ["goose/", "goose"],
  ["zed/", "Zed"],
];
const agentStartMax = 16;

/** The name of a coding agent that sends this user agent; null if it is none that we know. */
export function codingAgentOf(userAgent: string): string | null {
  const start = userAgent.slice(0, agentStartMax).toLowerCase();
  return agents.find(([beginning]) => start.startsWith(beginning))?.[1] ?? null;
}

const agentNameMax = 64;

/** The program behind a user agent: a coding agent, else the first product of the header. Empty if there is none. */
export function agentNameOf(userAgent: string): string {
  return codingAgentOf(userAgent) ?? /^[\w.-]+/.exec(userAgent)?.[0].slice(0, agentNameMax) ?? "";
}
