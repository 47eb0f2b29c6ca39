import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { asProblem, isAbort, Problem } from "../../../client/problem.ts";
import { t } from "../../../language/areas/playground.ts";
import { askAs, type KeyCall } from "../../media/key-call.ts";
import type { Fields } from "../../media/more-fields.ts";
import { randomId } from "../../media/random-id.ts";

interface StartVideo {
  readonly starting: boolean;
  readonly problem: Problem | null;
  readonly start: (body: Fields) => Promise<void>;
  readonly forgetProblem: () => void;
}

/** Starts video tasks, one at a time. `onStarted` is told the task's id. */
export function useStartVideo(call: KeyCall, onStarted: (task: string) => void): StartVideo {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [starting, setStarting] = useState(false);
  const abort = useRef<AbortController | null>(null);
  const lost = useRef<{ readonly text: string; readonly key: string } | null>(null);
  const queries = useQueryClient();
  useEffect(() => () => abort.current?.abort(), []);
  const start = async (body: Fields) => {
    if (starting) return;
    setStarting(true);
    setProblem(null);
    const controller = new AbortController();
    abort.current = controller;
    try {
      // Where the answer was lost, another click must find the same task and make no second one.
      const text = JSON.stringify(body);
      if (lost.current?.text !== text) lost.current = { text, key: randomId() };
      const headers = { "idempotency-key": lost.current.key };
      const answered = await askAs(call, "/v1/video/tasks", body, { signal: controller.signal, headers });
      lost.current = null;
      const id = idIn(answered.value);
      if (id === null) throw new Problem("upstream_error", t("playground.video.noTask"), answered.requestId);
      onStarted(id);
      void queries.invalidateQueries({ queryKey: ["tasks.list"] });
    } catch (thrown) {
      if (isAbort(thrown)) return;
      const failed = asProblem(thrown);
      if (failed.code !== "unreachable") lost.current = null;
      setProblem(failed);
    } finally {
      setStarting(false);
    }
  };
  return { starting, problem, start, forgetProblem: () => setProblem(null) };
}

function idIn(value: unknown): string | null {
  return value !== null && typeof value === "object" && "id" in value && typeof value.id === "string" ? value.id : null;
}
