import { useCallback, useEffect, useState } from "react";
import { asProblem, isAbort, type Problem } from "./problem.ts";

export interface Loaded<T> {
  readonly value: T | null;
  readonly problem: Problem | null;
  readonly loading: boolean;
  readonly reload: () => void;
}

/** Loads a value, again whenever `load` changes or on demand. An older answer never replaces a newer one. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value: T | null; problem: Problem | null; loading: boolean }>({
    value: null,
    problem: null,
    loading: true,
  });
  const [turn, setTurn] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` is what asks for another load.
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    load(abort.signal).then(
      (value) => setState({ value, problem: null, loading: false }),
      (thrown: unknown) => {
        if (isAbort(thrown)) return;
        setState((before) => ({ value: before.value, problem: asProblem(thrown), loading: false }));
      },
    );
    return () => abort.abort();
  }, [load, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  return { ...state, reload };
}
