import { isWritten, type Turn, type Written } from "./conversation.ts";

/** The conversations by column: the first has the name "", the others the names of their models. */
export type Chats = ReadonlyMap<string, readonly Turn[]>;

/** The conversations before turns were removed from them, with the draft message of that time. */
export interface Before {
  readonly chats: Chats;
  readonly draft: Written;
}

/** The conversations to restore; null: none. Removing a turn that is still streaming cuts it. */
export function beforeOf(chats: Chats, draft: Written): Before | null {
  if (turnCount(chats) === 0 && !isWritten(draft)) return null;
  const stopped = (turn: Turn): Turn => (turn.state === "running" ? { ...turn, state: "stopped" } : turn);
  return { chats: new Map([...chats].map(([column, turns]) => [column, turns.map(stopped)])), draft };
}

/** Drops the stored conversations once the user continues. `chats`: as they were before the current message. */
export function stillBefore(before: Before | null, chats: Chats): Before | null {
  return before !== null && turnCount(chats) < turnCount(before.chats) ? before : null;
}

function turnCount(chats: Chats): number {
  return [...chats.values()].reduce((sum, turns) => sum + turns.length, 0);
}
