import type { BodyInput, GuardrailReplay } from "@sluice/contract";
import { useEffect, useRef, useState } from "react";
import { useClient } from "../../api/call-context.tsx";
import { asProblem, type Problem } from "../../client/problem.ts";
import { mergeReplays } from "./replay.ts";

interface ReplayState {
  readonly isRunning: boolean;
  /** The sum of the answers so far; null before the first. */
  readonly answer: GuardrailReplay | null;
  readonly problem: Problem | null;
}

const idle: ReplayState = { isRunning: false, answer: null, problem: null };

/** Examines captured requests call by call, until the end of the time or `cancel`. */
export function useReplay(workspace: string) {
  const call = useClient();
  const [state, setState] = useState(idle);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const start = async (body: BodyInput<"guardrails.replay">) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    setState({ ...idle, isRunning: true });
    let answer: GuardrailReplay | null = null;
    try {
      do {
        const time: object = answer === null ? {} : { from: answer.from, to: answer.to, cursor: answer.next };
        const more: GuardrailReplay = await call("guardrails.replay", {
          params: { workspace },
          body: { ...body, ...time },
          signal,
        });
        answer = answer === null ? more : mergeReplays(answer, more);
        if (signal.aborted) return;
        setState({ isRunning: answer.next !== null, answer, problem: null });
      } while (answer.next !== null);
    } catch (thrown) {
      if (!signal.aborted) setState({ isRunning: false, answer, problem: asProblem(thrown) });
    }
  };

  const cancel = () => {
    running.current?.abort();
    setState((before) => ({ ...before, isRunning: false }));
  };
  return { ...state, start, cancel };
}
