import { useCallback, useEffect, useMemo, useRef } from "react";
import { asProblem, isAbort } from "../../../client/problem.ts";
import type { KeyCall } from "../../media/key-call.ts";
import type { Fields } from "../../media/more-fields.ts";
import { stillBefore } from "./before.ts";
import { noChats, useChatBefore, useChatDraft, useChats, useRemember } from "./chat-state.ts";
import { type ChatSettings, chatBody, messagesOf, type Turn, type UserInput } from "./conversation.ts";
import { noReply } from "./reply.ts";
import { streamChat } from "./stream-chat.ts";

/** Maximum number of turns in a conversation of the playground. */
export const turnsMax = 100;

export interface ChatWith {
  readonly call: KeyCall;
  /** One for each column. */
  readonly models: readonly string[];
  readonly settings: ChatSettings;
  readonly tools: readonly unknown[];
  readonly more: Fields;
}

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
const nameOf = (model: string, place: number) => (place === 0 ? "" : model);

export function useChat(chatWith: ChatWith): Chat {
  const { call, models } = chatWith;
  const [chats, setChats] = useChats(call.workspace);
  const [before, setBefore] = useChatBefore(call.workspace);
  const [, setDraft] = useChatDraft(call.workspace);
  const remember = useRemember(call.workspace);
  const aborts = useRef(new Map<string, AbortController>());
  // Leaving the page or removing a column aborts its request, so that it costs no more.
  useEffect(() => {
    const running = aborts.current;
    const names = models.map(nameOf);
    for (const [name, abort] of running) if (!names.includes(name)) abort.abort();
  }, [models]);
  useEffect(() => {
    const running = aborts.current;
    return () => abortAll(running);
  }, []);

  const start = useCallback(
    (name: string, model: string, told: readonly Turn[], asked: UserInput) => {
      const { settings, tools, more } = chatWith;
      const id = (told.at(-1)?.id ?? 0) + 1;
      const controller = new AbortController();
      aborts.current.get(name)?.abort();
      aborts.current.set(name, controller);
      const started: Turn = { id, model, input: asked, reply: noReply, state: "running", served: null, problem: null };
      setChats((now) => new Map(now).set(name, [...told, started]));
      // The turn may have been removed meanwhile.
      const change = (edit: (turn: Turn) => Turn) => {
        if (aborts.current.get(name) !== controller) return;
        const turnsOf = (turns = noTurns) => turns.map((turn) => (turn.id === id ? edit(turn) : turn));
        setChats((now) => new Map(now).set(name, turnsOf(now.get(name))));
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
    [chatWith, call, setChats],
  );

  return useMemo(() => {
    const forgetAll = () => {
      const running = new Map(aborts.current);
      aborts.current.clear();
      abortAll(running);
    };
    const columns = models.map((model, place): Column => {
      const name = nameOf(model, place);
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
            const running = aborts.current.get(each);
            aborts.current.delete(each);
            running?.abort();
            shorter.set(each, its.slice(0, -1));
          }
          setChats(shorter);
          if (last.input.kind === "message") setDraft({ text: last.input.text, pictures: last.input.pictures });
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
              forgetAll();
              setChats(before.chats);
              setDraft(before.draft);
            },
      stop: () => abortAll(aborts.current),
      clear: () => {
        remember();
        forgetAll();
        setChats(noChats);
      },
    };
  }, [models, chats, before, start, remember, setChats, setDraft, setBefore]);
}

function abortAll(controllers: ReadonlyMap<string, AbortController>): void {
  for (const controller of controllers.values()) controller.abort();
}
