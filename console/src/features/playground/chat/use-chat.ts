import { useCallback, useEffect, useMemo, useRef } from "react";
import { asProblem, isAbort } from "../../../client/problem.ts";
import type { KeyCall } from "../../media/key-call.ts";
import type { Fields } from "../../media/more-fields.ts";
import { useChatTurns } from "./chat-kept.ts";
import { type Asked, type ChatSettings, chatBody, messagesOf, type Turn } from "./conversation.ts";
import { noReply } from "./reply.ts";
import { streamChat } from "./stream-chat.ts";

/** A conversation of the playground; a longer one is a program's business. */
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
  readonly ask: (asked: Asked) => void;
  /** Asks the last question again, of the model that is chosen now. */
  readonly again: () => void;
  /** Takes the last turn out and gives back what was asked in it. */
  readonly takeBack: () => Asked | null;
  readonly stop: () => void;
  readonly clear: () => void;
}

const noTurns: readonly Turn[] = [];

export function useChat(chatWith: ChatWith): Chat {
  const { call } = chatWith;
  const [turns, setTurns] = useChatTurns(call.workspace);
  const abort = useRef<AbortController | null>(null);
  // Whoever leaves does not wait for the answer: the upstream stops, and costs no more.
  useEffect(() => () => abort.current?.abort(), []);

  const start = useCallback(
    (before: readonly Turn[], asked: Asked) => {
      const { model, settings, tools, more } = chatWith;
      const id = (before.at(-1)?.id ?? 0) + 1;
      const controller = new AbortController();
      abort.current?.abort();
      abort.current = controller;
      const started: Turn = { id, model, asked, reply: noReply, state: "running", served: null, problem: null };
      setTurns([...before, started]);
      // A turn that was taken back in the meantime has nothing to be changed.
      const change = (edit: (turn: Turn) => Turn) => {
        if (abort.current !== controller) return;
        setTurns((now) => now.map((turn) => (turn.id === id ? edit(turn) : turn)));
      };
      const body = chatBody(model, messagesOf(settings.system, before, asked), settings, { tools, more });
      streamChat(call, body, {
        signal: controller.signal,
        onTold: (told) =>
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
      ask: (asked) => start(turns, asked),
      again: () => {
        const last = turns.at(-1);
        if (last !== undefined) start(turns.slice(0, -1), last.asked);
      },
      takeBack: () => {
        forget();
        const last = turns.at(-1);
        setTurns(turns.slice(0, -1));
        return last?.asked ?? null;
      },
      stop: () => abort.current?.abort(),
      clear: () => {
        forget();
        setTurns(noTurns);
      },
    };
  }, [turns, start, setTurns]);
}
