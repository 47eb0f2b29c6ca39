/** `console` null: the console uses the port for calls. */
export interface SharedPorts {
  readonly calls: number;
  readonly console: number | null;
}

/** Reports of all workers, including ended ones. */
export interface Totals {
  readonly parts: readonly unknown[];
  readonly workers: WorkerCounts;
}

interface WorkerCounts {
  /** Configured number of workers. */
  readonly wanted: number;
  /** Number of workers that serve calls. */
  readonly ready: number;
  /** Number of workers that ended unexpectedly. */
  readonly lost: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** From the supervisor to a worker. */
export type ToWorker =
  /** Open these ports; null: the configured ports. `alone`: no other worker has them open. */
  | { readonly kind: "listen"; readonly ports: SharedPorts | null; readonly alone: boolean }
  /** Send new connections only to these listeners, by index in the kernel's list; null: to all. */
  | { readonly kind: "steer"; readonly turn: number; readonly places: readonly number[] | null }
  /** Another worker replaces this one: end when the connections have closed. */
  | { readonly kind: "leave" }
  /** End without waiting. */
  | { readonly kind: "force" }
  | { readonly kind: "report"; readonly turn: number }
  | { readonly kind: "totals"; readonly turn: number; readonly totals: Totals };

/** From a worker to the supervisor. */
export type FromWorker =
  /** The worker waits for its turn to listen. */
  | { readonly kind: "prepared" }
  | { readonly kind: "listening"; readonly ports: SharedPorts }
  /** The worker serves calls. */
  | { readonly kind: "ready"; readonly banner: string }
  | { readonly kind: "steered"; readonly turn: number; readonly done: boolean }
  /** The worker will have ended within this time. */
  | { readonly kind: "ending"; readonly withinMs: number }
  /** Turn 0 marks the last report, which is sent without a request. */
  | { readonly kind: "report"; readonly turn: number; readonly report: unknown }
  /** Requests the totals. */
  | { readonly kind: "ask"; readonly turn: number };
