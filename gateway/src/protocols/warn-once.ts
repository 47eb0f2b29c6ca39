import type { Warn } from "./codec.ts";

const warningsMax = 32;

/** The same warning is said once a call, and no more than 32 different ones. */
export function warnOnce(warn: Warn): Warn {
  const said = new Set<string>();
  return (what) => {
    if (said.has(what) || said.size >= warningsMax) return;
    said.add(what);
    warn(what);
  };
}

/** A caller's own word in a warning: quoted only when it is a plain name. Takes whatever a body holds. */
export function plainName(word: unknown): string {
  return typeof word === "string" && /^[\w.-]{1,64}$/.test(word) ? word : "(unnamed)";
}
