import type { FromWorker, ToWorker } from "./messages.ts";

export interface WorkerEnd {
  /** null: it was ended by a signal. */
  readonly code: number | null;
  readonly signal: string | null;
}

/** Methods never throw, even if the process has ended. */
export interface WorkerProcess {
  readonly pid: number;
  /** Resolves when it has ended and its output was forwarded. */
  readonly ended: Promise<WorkerEnd>;
  send(message: ToWorker): void;
  signal(name: NodeJS.Signals): void;
}

export type StartWorker = (onMessage: (message: FromWorker) => void) => WorkerProcess;
