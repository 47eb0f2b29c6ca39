import { useMemo } from "react";
import { stillBefore } from "./before.ts";
import { noChats, useChatBefore, useChatDraft, useChats, useRemember } from "./chat-state.ts";
import type { Turn, UserInput } from "./conversation.ts";
import { type ChatWith, columnName, useRuns } from "./use-runs.ts";

/** Maximum number of turns in a conversation of the playground. */
export const turnsMax = 100;

/** The conversation with one model. */
export interface Column {
  readonly model: string;
  readonly turns: readonly Turn[];
  readonly ask: (asked: UserInput) => void;
  /** Sends the last message again, to the currently selected model. */
  readonly again: () => void;
  /** Removes the turns of the last message from all columns and puts it into the input. */
  readonly takeBack: () => void;
}

export interface Chat {
  readonly columns: readonly Column[];
  readonly running: boolean;
  /** Sends a message to every model. */
  readonly ask: (asked: UserInput) => void;
  /** Restores the conversations before turns were removed; null: there is nothing to restore. */
  readonly restore: (() => void) | null;
  readonly stop: () => void;
  readonly clear: () => void;
}

const noTurns: readonly Turn[] = [];

export function useChat(chatWith: ChatWith): Chat {
  const { call, models } = chatWith;
  const [chats, setChats] = useChats(call.workspace);
  const [before, setBefore] = useChatBefore(call.workspace);
  const [, setDraft] = useChatDraft(call.workspace);
  const remember = useRemember(call.workspace);
  const { start, cancel, cancelAll, stop } = useRuns(chatWith, setChats);

  return useMemo(() => {
    const columns = models.map((model, place): Column => {
      const name = columnName(model, place);
      const turns = chats.get(name) ?? noTurns;
      const last = turns.at(-1);
      return {
        model,
        turns,
        ask: (asked) => {
          setBefore((now) => stillBefore(now, chats));
          start(name, model, turns, asked);
        },
        again: () => {
          if (last === undefined) return;
          // A failed turn is not worth restoring.
          if (last.state !== "failed") remember();
          start(name, model, turns.slice(0, -1), last.input);
        },
        takeBack: () => {
          if (last === undefined) return;
          remember();
          const shorter = new Map(chats);
          for (const [each, its] of chats) {
            if (its.at(-1)?.input !== last.input) continue;
            cancel(each);
            shorter.set(each, its.slice(0, -1));
          }
          setChats(shorter);
          if (last.input.kind === "message") {
            const { kind: _, ...written } = last.input;
            setDraft(written);
          }
        },
      };
    });
    return {
      columns,
      running: columns.some(({ turns }) => turns.at(-1)?.state === "running"),
      ask: (asked) => {
        for (const column of columns) column.ask(asked);
      },
      restore:
        before === null
          ? null
          : () => {
              // Store the current state, so that the restore itself can be undone.
              remember();
              cancelAll();
              setChats(before.chats);
              setDraft(before.draft);
            },
      stop,
      clear: () => {
        remember();
        cancelAll();
        setChats(noChats);
      },
    };
  }, [models, chats, before, start, cancel, cancelAll, stop, remember, setChats, setDraft, setBefore]);
}
