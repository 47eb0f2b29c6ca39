import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { asProblem, Problem } from "../../../client/problem.ts";
import { t } from "../../../language/areas/playground.ts";
import { askAs, type KeyCall } from "../../media/key-call.ts";
import type { Fields } from "../../media/more-fields.ts";
import { randomId } from "../../media/random-id.ts";
import { useTabState } from "../../media/tab-state.ts";

interface StartVideo {
  readonly starting: boolean;
  readonly problem: Problem | null;
  readonly start: (body: Fields) => Promise<void>;
  readonly forgetProblem: () => void;
}

/** A task that may have started although its response was lost. */
interface Lost {
  readonly text: string;
  readonly key: string;
}

/**
 * Starts video tasks, one at a time. `onStarted` receives the task's id, even if the user has left the page: the video is generated
 * and charged anyway.
 */
export function useStartVideo(call: KeyCall, onStarted: (task: string) => void): StartVideo {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [starting, setStarting] = useState(false);
  const [lost, setLost] = useTabState<Lost | null>(`playground.video.lost:${call.workspace}`, null);
  const queries = useQueryClient();
  const start = async (body: Fields) => {
    if (starting) return;
    setStarting(true);
    setProblem(null);
    try {
      // If the answer was lost, another click must find the same task instead of creating a second one.
      const text = JSON.stringify(body);
      const sent = lost?.text === text ? lost : { text, key: randomId() };
      setLost(sent);
      const answered = await askAs(call, "/v1/video/tasks", body, { headers: { "idempotency-key": sent.key } });
      setLost(null);
      const id = idIn(answered.value);
      if (id === null) throw new Problem("upstream_error", t("playground.video.noTask"), answered.requestId);
      onStarted(id);
      void queries.invalidateQueries({ queryKey: ["tasks.list"] });
    } catch (thrown) {
      const failed = asProblem(thrown);
      if (failed.code !== "unreachable") setLost(null);
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
