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
