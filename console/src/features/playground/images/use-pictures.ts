import { useEffect, useRef } from "react";
import { asProblem, isAbort, Problem } from "../../../client/problem.ts";
import { t } from "../../../language/areas/playground.ts";
import type { KeyCall } from "../../media/key-call.ts";
import type { Fields } from "../../media/more-fields.ts";
import { useTabState } from "../../media/tab-state.ts";
import { makePictures, type PictureDraft, type PictureRun, picturesIn } from "./picture-run.ts";

/** How many runs to keep, because images are megabytes of text. */
const runsMax = 12;
const noModels: readonly string[] = [];
const noRuns: readonly PictureRun[] = [];

export function usePictures(call: KeyCall) {
  const [runs, setRuns] = useTabState<readonly PictureRun[]>(`playground.image:${call.workspace}`, noRuns);
  const [bare, setBare] = useTabState<readonly string[]>("playground.image.models-without-response-format", noModels);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const running = runs[0]?.state === "running";

  const make = (model: string, draft: PictureDraft, more: Fields) => {
    const id = (runs[0]?.id ?? 0) + 1;
    const controller = new AbortController();
    abort.current = controller;
    const started: PictureRun = {
      id,
      model,
      prompt: draft.prompt.trim(),
      startedAt: Date.now(),
      state: "running",
      pictures: [],
      info: null,
      totalMs: null,
      problem: null,
    };
    setRuns((before) => [started, ...before].slice(0, runsMax));
    const change = (edit: Partial<PictureRun>) =>
      setRuns((now) => now.map((run) => (run.id === id ? { ...run, ...edit } : run)));
    const onBare = () => setBare((before) => [...before, model]);
    makePictures(call, model, draft, more, { signal: controller.signal, base64: !bare.includes(model), onBare }).then(
      (answered) => {
        const pictures = picturesIn(answered.value);
        const { requestId, totalMs } = answered;
        const problem =
          pictures.length > 0 ? null : new Problem("upstream_error", t("playground.image.empty"), requestId);
        change({ state: problem === null ? "done" : "failed", pictures, info: answered, totalMs, problem });
      },
      (thrown: unknown) =>
        change(isAbort(thrown) ? { state: "stopped" } : { state: "failed", problem: asProblem(thrown) }),
    );
  };
  return {
    runs,
    running,
    make,
    asksBase64: (model: string) => !bare.includes(model),
    stop: () => abort.current?.abort(),
    clear: () => setRuns(noRuns),
  };
}
