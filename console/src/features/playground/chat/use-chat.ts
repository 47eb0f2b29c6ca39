import { useCallback, useEffect, useMemo, useRef } from "react";
import { asProblem, isAbort } from "../../../client/problem.ts";
import type { KeyCall } from "../../media/key-call.ts";
import type { Fields } from "../../media/more-fields.ts";
import { stillBefore } from "./before.ts";
import { useChatBefore, useChatDraft, useChatTurns, useRemember } from "./chat-state.ts";
import { type ChatSettings, chatBody, messagesOf, type Turn, type UserInput } from "./conversation.ts";
import { noReply } from "./reply.ts";
import { streamChat } from "./stream-chat.ts";

/** Maximum number of turns in a conversation of the playground. */
export const turnsMax = 100;

export interface ChatWith {
  readonly call: KeyCall;
  readonly model: string;
  readonly settings: ChatSettings;
  readonly tools: readonly unknown[];
  readonly more: Fields;
}

export interface Chat {
  readonly turns: readonly Turn[];
  readonly running: boolean;
  readonly ask: (asked: UserInput) => void;
  /** Sends the last message again, to the currently selected model. */
  readonly again: () => void;
  /** Removes the last turn and puts its message into the input. */
  readonly takeBack: () => void;
  /** Restores the conversation before a turn was removed; null: there is nothing to restore. */
  readonly restore: (() => void) | null;
  readonly stop: () => void;
  readonly clear: () => void;
}

const noTurns: readonly Turn[] = [];

export function useChat(chatWith: ChatWith): Chat {
  const { call } = chatWith;
  const [turns, setTurns] = useChatTurns(call.workspace);
  const [before, setBefore] = useChatBefore(call.workspace);
  const [, setDraft] = useChatDraft(call.workspace);
  const remember = useRemember(call.workspace);
  const abort = useRef<AbortController | null>(null);
  // Leaving the page aborts the request, so that it costs no more.
  useEffect(() => () => abort.current?.abort(), []);

  const start = useCallback(
    (told: readonly Turn[], asked: UserInput) => {
      const { model, settings, tools, more } = chatWith;
      const id = (told.at(-1)?.id ?? 0) + 1;
      const controller = new AbortController();
      abort.current?.abort();
      abort.current = controller;
      const started: Turn = { id, model, input: asked, reply: noReply, state: "running", served: null, problem: null };
      setTurns([...told, started]);
      // The turn may have been removed meanwhile.
      const change = (edit: (turn: Turn) => Turn) => {
        if (abort.current !== controller) return;
        setTurns((now) => now.map((turn) => (turn.id === id ? edit(turn) : turn)));
      };
      const body = chatBody(model, messagesOf(settings.system, told, asked), settings, { tools, more });
      streamChat(call, body, {
        signal: controller.signal,
        onInfo: (told) =>
          change((turn) => ({
            ...turn,
            served: { ...told, inputTokens: null, outputTokens: null, firstTokenMs: null, totalMs: 0 },
          })),
        onReply: (reply) => change((turn) => ({ ...turn, reply })),
      }).then(
        (served) => change((turn) => ({ ...turn, state: "done", served })),
        (thrown: unknown) =>
          change((turn) =>
            isAbort(thrown) ? { ...turn, state: "stopped" } : { ...turn, state: "failed", problem: asProblem(thrown) },
          ),
      );
    },
    [chatWith, call, setTurns],
  );

  return useMemo(() => {
    const forget = () => {
      const running = abort.current;
      abort.current = null;
      running?.abort();
    };
    return {
      turns,
      running: turns.at(-1)?.state === "running",
      ask: (asked) => {
        setBefore((now) => stillBefore(now, turns));
        start(turns, asked);
      },
      again: () => {
        const last = turns.at(-1);
        if (last === undefined) return;
        // A failed turn is not worth restoring.
        if (last.state !== "failed") remember();
        start(turns.slice(0, -1), last.input);
      },
      takeBack: () => {
        const last = turns.at(-1);
        if (last === undefined) return;
        remember();
        forget();
        setTurns(turns.slice(0, -1));
        if (last.input.kind === "message") setDraft({ text: last.input.text, pictures: last.input.pictures });
      },
      restore:
        before === null
          ? null
          : () => {
              // Store the current state, so that the restore itself can be undone.
              remember();
              forget();
              setTurns(before.turns);
              setDraft(before.draft);
            },
      stop: () => abort.current?.abort(),
      clear: () => {
        remember();
        forget();
        setTurns(noTurns);
      },
    };
  }, [turns, before, start, remember, setTurns, setDraft, setBefore]);
}
