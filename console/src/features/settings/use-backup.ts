import { useCallback, useEffect, useRef, useState } from "react";
import { useConfirmation } from "../../api/confirmation-context.tsx";
import { asProblem, isAbort, type Problem } from "../../client/problem.ts";
import { type BackupProgress, takeBackup } from "./backup-download.ts";
import { saveAs } from "./save-as.ts";

type BackupState =
  | { readonly step: "idle" }
  | { readonly step: "asked"; readonly progress: BackupProgress | null }
  | { readonly step: "done"; readonly name: string; readonly bytes: number }
  | { readonly step: "failed"; readonly problem: Problem };

export interface BackupDoing {
  readonly state: BackupState;
  readonly begin: () => void;
  readonly stop: () => void;
}

/** Downloads the database. Leaving the page aborts the download, because an incomplete backup is useless. */
export function useBackup(): BackupDoing {
  const confirmation = useConfirmation();
  const [state, setState] = useState<BackupState>({ step: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const begin = useCallback(() => {
    const controller = new AbortController();
    running.current = controller;
    setState({ step: "asked", progress: null });
    const take = () => takeBackup(controller.signal, (progress) => setState({ step: "asked", progress }));
    const takeOnceConfirmed = async () => {
      try {
        return await take();
      } catch (thrown) {
        const problem = isAbort(thrown) ? null : asProblem(thrown);
        if (problem?.code !== "confirm_sign_in" || !(await confirmation.ask())) throw thrown;
        return await take();
      }
    };
    takeOnceConfirmed().then(
      ({ content, name }) => {
        saveAs(content, name);
        setState({ step: "done", name, bytes: content.size });
      },
      (thrown: unknown) =>
        setState(isAbort(thrown) ? { step: "idle" } : { step: "failed", problem: asProblem(thrown) }),
    );
  }, [confirmation]);
  const stop = useCallback(() => running.current?.abort(), []);
  return { state, begin, stop };
}
