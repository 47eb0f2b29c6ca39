import type { Draft } from "./composer.tsx";
import type { Turn } from "./conversation.ts";

/** A conversation as it was before something was taken out of it, and what was being written then. */
export interface Before {
  readonly turns: readonly Turn[];
  readonly draft: Draft;
}

/** What there is to come back to; null: nothing. An answer that was still coming is cut by whatever takes its turn out. */
export function beforeOf(turns: readonly Turn[], draft: Draft): Before | null {
  if (turns.length === 0 && draft.text === "" && draft.pictures.length === 0) return null;
  return { turns: turns.map((turn) => (turn.state === "running" ? { ...turn, state: "stopped" } : turn)), draft };
}

/** Once somebody has gone on from where they were, the one before is no longer of use. `turns`: those before what is asked now. */
export function stillBefore(before: Before | null, turns: readonly Turn[]): Before | null {
  return before !== null && turns.length < before.turns.length ? before : null;
}
