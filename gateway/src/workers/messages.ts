/** The ports that all workers share. `console` is null where it has none of its own. */
export interface SharedPorts {
  readonly calls: number;
  readonly console: number | null;
}

/** The numbers of every worker, and of those that ended, in the form in which `report` gives them. */
export interface Totals {
  readonly parts: readonly unknown[];
  readonly workers: WorkerCounts;
}

interface WorkerCounts {
  /** How many there should be. */
  readonly wanted: number;
  /** How many take calls. */
  readonly ready: number;
  /** How many ended without being told to. */
  readonly lost: number;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** What the supervisor says to a worker. */
export type ToWorker =
  /** It is its turn to open the ports: these, or, when null, those of the settings. `alone`: no other worker holds them now. */
  | { readonly kind: "listen"; readonly ports: SharedPorts | null; readonly alone: boolean }
  /** New connections go to these listeners only, by their place in the kernel's list; null: to all. */
  | { readonly kind: "steer"; readonly turn: number; readonly places: readonly number[] | null }
  /** Another takes its place: it ends once its connections have gone. */
  | { readonly kind: "leave" }
  /** Somebody is tired of waiting: whatever it does, it ends now. */
  | { readonly kind: "hurry" }
  | { readonly kind: "report"; readonly turn: number }
  | { readonly kind: "totals"; readonly turn: number; readonly totals: Totals };

/** What a worker says. */
export type FromWorker =
  /** All that it needs is there; it waits for its turn to listen. */
  | { readonly kind: "prepared" }
  | { readonly kind: "listening"; readonly ports: SharedPorts }
  /** It takes calls; `told` is the banner. */
  | { readonly kind: "ready"; readonly told: string }
  | { readonly kind: "steered"; readonly turn: number; readonly done: boolean }
  /** It is about to end, and will have ended by then. */
  | { readonly kind: "ending"; readonly withinMs: number }
  /** Turn 0: its last, unasked. */
  | { readonly kind: "report"; readonly turn: number; readonly report: unknown }
  | { readonly kind: "ask"; readonly turn: number };
