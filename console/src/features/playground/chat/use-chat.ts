import { useCallback, useEffect, useMemo, useRef } from "react";
import { asProblem, isAbort } from "../../../client/problem.ts";
import type { KeyCall } from "../../media/key-call.ts";
import type { Fields } from "../../media/more-fields.ts";
import { stillBefore } from "./before.ts";
import { useChatBefore, useChatDraft, useChatTurns, useRemember } from "./chat-state.ts";
import { type ChatSettings, chatBody, messagesOf, type Turn, type UserInput } from "./conversation.ts";
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
  readonly ask: (asked: UserInput) => void;
  /** Asks the last question again, of the model that is chosen now. */
  readonly again: () => void;
  /** Removes the last turn and puts its message into the input. */
  readonly takeBack: () => void;
  /** Back to how the conversation was before a turn was taken out of it; null: nothing was. */
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
      // A turn that was taken back in the meantime has nothing to be changed.
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
        // A turn that failed has nothing that one would come back to.
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
              // The way there leads back again.
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
