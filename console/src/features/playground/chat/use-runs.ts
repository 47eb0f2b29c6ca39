import { useCallback, useEffect, useMemo, useRef } from "react";
import { asProblem, isAbort } from "../../../client/problem.ts";
import type { KeyCall } from "../../media/key-call.ts";
import type { Fields } from "../../media/more-fields.ts";
import type { useChats } from "./chat-state.ts";
import { type ChatSettings, chatBody, messagesOf, type Turn, type UserInput } from "./conversation.ts";
import { noReply } from "./reply.ts";
import { streamChat } from "./stream-chat.ts";

export interface ChatWith {
  readonly call: KeyCall;
  /** One for each column. */
  readonly models: readonly string[];
  readonly settings: ChatSettings;
  readonly tools: readonly unknown[];
  readonly more: Fields;
}

/** The running requests of a chat, at most one for each column. */
interface Runs {
  /** Sends a message after `turns`, in place of the running request of this column. */
  readonly start: (column: string, model: string, turns: readonly Turn[], asked: UserInput) => void;
  /** Aborts the request of a column without changing its turn. */
  readonly cancel: (column: string) => void;
  readonly cancelAll: () => void;
  /** Aborts all requests and marks their turns as stopped. */
  readonly stop: () => void;
}

/** The first column keeps its name, so that its conversation continues when another model is chosen. */
export const columnName = (model: string, place: number) => (place === 0 ? "" : model);

export function useRuns(chatWith: ChatWith, setChats: ReturnType<typeof useChats>[1]): Runs {
  const { models } = chatWith;
  const aborts = useRef(new Map<string, AbortController>());
  // Leaving the page or removing a column aborts its request, so that it costs no more.
  useEffect(() => {
    const names = models.map(columnName);
    for (const [name, abort] of aborts.current) if (!names.includes(name)) abort.abort();
  }, [models]);
  useEffect(() => {
    const running = aborts.current;
    return () => abortAll(running);
  }, []);

  const start = useCallback(
    (column: string, model: string, turns: readonly Turn[], asked: UserInput) => {
      const { call, settings, tools, more } = chatWith;
      const id = (turns.at(-1)?.id ?? 0) + 1;
      const controller = new AbortController();
      aborts.current.get(column)?.abort();
      aborts.current.set(column, controller);
      const started: Turn = { id, model, input: asked, reply: noReply, state: "running", served: null, problem: null };
      setChats((now) => new Map(now).set(column, [...turns, started]));
      // The turn may have been removed meanwhile.
      const change = (edit: (turn: Turn) => Turn) => {
        if (aborts.current.get(column) !== controller) return;
        setChats((now) => {
          const edited = (now.get(column) ?? []).map((turn) => (turn.id === id ? edit(turn) : turn));
          return new Map(now).set(column, edited);
        });
      };
      const body = chatBody(model, messagesOf(settings.system, turns, asked), settings, { tools, more });
      streamChat(call, body, {
        signal: controller.signal,
        onInfo: (info) =>
          change((turn) => ({
            ...turn,
            served: { ...info, inputTokens: null, outputTokens: null, firstTokenMs: null, totalMs: 0 },
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
    [chatWith, setChats],
  );

  const others = useMemo(
    () => ({
      cancel: (column: string) => {
        const running = aborts.current.get(column);
        aborts.current.delete(column);
        running?.abort();
      },
      cancelAll: () => {
        const running = new Map(aborts.current);
        aborts.current.clear();
        abortAll(running);
      },
      stop: () => abortAll(aborts.current),
    }),
    [],
  );
  return { start, ...others };
}

function abortAll(controllers: ReadonlyMap<string, AbortController>): void {
  for (const controller of controllers.values()) controller.abort();
}
