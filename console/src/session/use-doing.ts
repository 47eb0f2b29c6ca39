import { useCallback, useState } from "react";
import { asProblem, type Problem } from "../client/problem.ts";

export interface Doing {
  /** Runs the action and stores its error. Resolves to true on success. */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>;
  readonly doing: boolean;
  readonly problem: Problem | null;
  readonly forget: () => void;
}

/** An action of a form, with its running state and its error. */
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
