import type { FromWorker, ToWorker } from "./messages.ts";

export interface WorkerEnd {
  /** null: it was ended by a signal. */
  readonly code: number | null;
  readonly signal: string | null;
}

/** A worker as its supervisor has it. Nothing here throws, also when the process has gone. */
export interface WorkerProcess {
  readonly pid: number;
  /** Resolves when it has ended and all it printed was passed on. */
  readonly ended: Promise<WorkerEnd>;
  send(message: ToWorker): void;
  signal(name: NodeJS.Signals): void;
}

export type StartWorker = (hear: (message: FromWorker) => void) => WorkerProcess;
