import { useEffect, useRef, useState } from "react";
import { asProblem, isAbort, type Problem } from "../../client/problem.ts";
import { useTabState } from "../media/tab-state.ts";

export interface Run<Result> {
  /** The result of the last call, possibly partial. */
  readonly result: Result | null;
  readonly running: boolean;
  readonly stopped: boolean;
  readonly problem: Problem | null;
  /** `show` publishes a partial result. */
  readonly start: (work: (signal: AbortSignal, show: (result: Result) => void) => Promise<Result>) => void;
  readonly stop: () => void;
}

/** One call at a time. Its result, stored by `name`, outlives the page; leaving the page stops a running call. */
export function useRun<Result>(name: string): Run<Result> {
  const [result, setResult] = useTabState<Result | null>(name, null);
  const [state, setState] = useTabState<"idle" | "running" | "stopped">(`${name}:state`, "idle");
  const [problem, setProblem] = useState<Problem | null>(null);
  const abort = useRef<AbortController | null>(null);
  useEffect(
    () => () => {
      if (abort.current === null) return;
      abort.current.abort();
      abort.current = null;
      // Keeps the partial result and marks it as stopped.
      setState((now) => (now === "running" ? "stopped" : now));
    },
    [setState],
  );
  return {
    result,
    running: state === "running",
    stopped: state === "stopped",
    problem,
    start: (work) => {
      const controller = new AbortController();
      abort.current?.abort();
      abort.current = controller;
      setState("running");
      setProblem(null);
      setResult(null);
      const mine = () => abort.current === controller;
      work(controller.signal, (part) => mine() && setResult(() => part)).then(
        (whole) => {
          if (!mine()) return;
          setResult(() => whole);
          setState("idle");
        },
        (thrown: unknown) => {
          if (!mine()) return;
          if (!isAbort(thrown)) setProblem(asProblem(thrown));
          setState(isAbort(thrown) ? "stopped" : "idle");
        },
      );
    },
    stop: () => abort.current?.abort(),
  };
}
