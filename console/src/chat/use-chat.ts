import { useCallback, useEffect, useRef, useState } from "react";
import { asProblem, isAbort, type Problem } from "../client/problem.ts";
import { type Message, type Served, streamChat } from "./chat-call.ts";

/** The page keeps this many turns; older ones are dropped from it and from what is sent. */
const turnsMax = 40;

export interface Turn {
  readonly id: number;
  readonly model: string;
  /** What was sent, this question included: the curl line shows it. */
  readonly sent: readonly Message[];
  readonly question: string;
  readonly answer: string;
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly served: Served | null;
  readonly problem: Problem | null;
}

export interface Chat {
  readonly turns: readonly Turn[];
  readonly running: boolean;
  ask(model: string, question: string): void;
  stop(): void;
  clear(): void;
}

export function useChat(apiKey: string, onAnswer: () => void): Chat {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const running = turns.at(-1)?.state === "running";
  const abort = useRef<AbortController | null>(null);
  const lastId = useRef(0);
  useEffect(() => () => abort.current?.abort(), []);

  const ask = useCallback(
    (model: string, question: string) => {
      const id = ++lastId.current;
      const sent: Message[] = [...messagesOf(turns), { role: "user", content: question }];
      const controller = new AbortController();
      abort.current = controller;
      const change = (edit: (turn: Turn) => Turn) =>
        setTurns((before) => before.map((turn) => (turn.id === id ? edit(turn) : turn)));
      const started: Turn = { id, model, sent, question, answer: "", state: "running", served: null, problem: null };
      setTurns((before) => [...before, started].slice(-turnsMax));
      streamChat({
        key: apiKey,
        model,
        messages: sent,
        signal: controller.signal,
        onText: (piece) => change((turn) => ({ ...turn, answer: turn.answer + piece })),
      })
        .then(
          (served) => change((turn) => ({ ...turn, state: "done", served })),
          (thrown: unknown) =>
            change((turn) =>
              isAbort(thrown)
                ? { ...turn, state: "stopped" }
                : { ...turn, state: "failed", problem: asProblem(thrown) },
            ),
        )
        .finally(onAnswer);
    },
    [apiKey, onAnswer, turns],
  );
  const stop = useCallback(() => abort.current?.abort(), []);
  const clear = useCallback(() => {
    abort.current?.abort();
    setTurns([]);
  }, []);
  return { turns, running, ask, stop, clear };
}

/** What the model is told of before: whole turns only, since an unanswered question would confuse it. */
function messagesOf(turns: readonly Turn[]): Message[] {
  return turns
    .filter((turn) => turn.answer !== "")
    .flatMap((turn) => [
      { role: "user", content: turn.question },
      { role: "assistant", content: turn.answer },
    ]);
}
