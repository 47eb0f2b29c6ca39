import { createHash } from "node:crypto";
import type { RedisLink } from "./redis-link.ts";
import { type ScriptName, scripts } from "./scripts.ts";

/** Runs a script by its digest; one that the server has forgotten is sent whole. */
export async function runScript(
  link: RedisLink,
  script: ScriptName,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> {
  const key = keys[0] ?? "";
  const rest = [String(keys.length), ...keys, ...args];
  try {
    return await link.send(key, ["EVALSHA", digests[script], ...rest]);
  } catch (thrown) {
    if (!(thrown instanceof Error && thrown.message.startsWith("NOSCRIPT"))) throw thrown;
    return await link.send(key, ["EVAL", scripts[script], ...rest]);
  }
}

/** -1: of another epoch. -2: the lease on what this process holds has lapsed. */
export function isStale(answer: readonly unknown[]): boolean {
  return answer[0] === -1 || answer[0] === -2;
}

const digests = Object.freeze(
  Object.fromEntries(
    Object.entries(scripts).map(([name, text]) => [name, createHash("sha1").update(text).digest("hex")]),
  ),
) as Readonly<Record<ScriptName, string>>;
