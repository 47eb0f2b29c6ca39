import { useCallback, useState } from "react";
import { asProblem, type Problem } from "../client/problem.ts";

export interface Doing {
  /** Runs it, and keeps what went wrong. Resolves true when it went well. */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>;
  readonly doing: boolean;
  readonly problem: Problem | null;
  readonly forget: () => void;
}

/** One piece of work of a form: whether it runs, and what went wrong with it. */
export function useDoing(): Doing {
  const [doing, setDoing] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const run = useCallback(async (work: () => Promise<unknown>) => {
    setDoing(true);
    setProblem(null);
    try {
      await work();
      return true;
    } catch (thrown) {
      setProblem(asProblem(thrown));
      return false;
    } finally {
      setDoing(false);
    }
  }, []);
  const forget = useCallback(() => setProblem(null), []);
  return { run, doing, problem, forget };
}
