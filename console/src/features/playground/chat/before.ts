import type { Draft } from "./composer.tsx";
import type { Turn } from "./conversation.ts";

/** A conversation before turns were removed from it, with the draft message of that time. */
export interface Before {
  readonly turns: readonly Turn[];
  readonly draft: Draft;
}

/** The conversation to restore; null: none. Removing a turn that is still streaming cuts it. */
export function beforeOf(turns: readonly Turn[], draft: Draft): Before | null {
  if (turns.length === 0 && draft.text === "" && draft.pictures.length === 0) return null;
  return { turns: turns.map((turn) => (turn.state === "running" ? { ...turn, state: "stopped" } : turn)), draft };
}

/** Drops the stored conversation once the user continues. `turns`: the turns before the current message. */
export function stillBefore(before: Before | null, turns: readonly Turn[]): Before | null {
  return before !== null && turns.length < before.turns.length ? before : null;
}
