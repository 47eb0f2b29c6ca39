import { bounds, Failure, type HeaderReader, type Principal, sessionTag } from "#core/index.ts";

const tagBytesMax = 128;

/**
 * Labels for the ledger: the client's session, the caller's header (`x-sluice-tags: team=search,feature=ask`), and the key's own tags.
 * Later ones override earlier ones. `affinity`: the conversation key in the body.
 */
export function readTags(
  headers: HeaderReader,
  principal: Principal,
  affinity: string | null = null,
): Readonly<Record<string, string>> {
  const header = headers.get("x-sluice-tags");
  const session = sessionOf(headers, affinity);
  if (header === null) return session === null ? principal.key.tags : { [sessionTag]: session, ...principal.key.tags };
  const tags: Record<string, string> = session === null ? {} : { [sessionTag]: session };
  const pairs = header.split(",", bounds.tagsMax + 1);
  if (pairs.length > bounds.tagsMax) throw wrong(`holds more than ${bounds.tagsMax} tags`);
  for (const pair of pairs) {
    const [name, value] = pair.split("=", 2).map((part) => part.trim());
    if (name === undefined || name === "" || value === undefined)
      throw wrong("must be name=value pairs, comma-separated");
    if (name.length > tagBytesMax || value.length > tagBytesMax) throw wrong("has a part that is too long");
    tags[name] = value;
  }
  return { ...tags, ...principal.key.tags };
}

/** Claude Code; Codex, older and newer; agents that follow OpenCode. */
const sessionHeaders = ["x-claude-code-session-id", "session_id", "session-id", "x-session-id"];

/** The session that the client sent; null if it cannot be a tag. */
function sessionOf(headers: HeaderReader, affinity: string | null): string | null {
  let session: string | null = null;
  for (const name of sessionHeaders) session ??= headers.get(name);
  // Claude Code's `metadata.user_id`: JSON, in earlier versions `user_…_account_…_session_…`.
  if (affinity !== null) session ??= /(?:"session_id":"|_session_)([\w-]+)(?:"|$)/.exec(affinity)?.[1] ?? null;
  return session !== null && session.length <= tagBytesMax && /^[\x21-\x7e]+$/.test(session) ? session : null;
}

function wrong(why: string): Failure {
  return new Failure("invalid_request", `The header x-sluice-tags ${why}.`, { param: "x-sluice-tags" });
}
