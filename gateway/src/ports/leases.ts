/** The right to do work that only one process of the installation may do at a time (`rollups`, `prune`, `partition:2026-11`…). */
export interface Lease {
  readonly name: string;
  /** The id of the process that has it: `proc_…`. */
  readonly owner: string;
  /** Increases each time this lease is acquired. A writer with a lower one has lost the lease. */
  readonly fence: number;
}

/** Times are Unix milliseconds of the database's clock. */
export interface LeaseStatus extends Lease {
  readonly takenAt: number;
  readonly until: number;
  readonly leftMs: number;
}

/** Leases in the database, by its clock. Calls reject while it is unavailable. */
export interface Leases {
  /**
   * Acquires a lease that is free, expired, or already this owner's (with a new fence). Null: another owner has it. If the answer is
   * lost, the caller may have it and can acquire it again.
   */
  acquire(name: string, owner: string, leaseMs: number): Promise<Lease | null>;
  /** False: it was released, has expired, or another owner has it. */
  renew(lease: Lease, leaseMs: number): Promise<boolean>;
  /** Renews a lease that several callers hold under one owner's name. False: this owner does not have it. */
  extend(name: string, owner: string, leaseMs: number): Promise<boolean>;
  /** Does nothing if it is no longer held. */
  release(lease: Lease): Promise<void>;
  /** Null: it is free. */
  status(name: string): Promise<LeaseStatus | null>;
  /** All held leases, sorted by name. */
  list(): Promise<readonly LeaseStatus[]>;
}

/** A lease that is renewed until its work ends. */
export interface ActiveLease extends Lease {
  /**
   * Aborts when the lease is lost, by the monotonic clock: always before the database gives it to another owner, even if the
   * database does not answer.
   */
  readonly signal: AbortSignal;
  /** Checks the clock: false right after a suspension of the process, before any timer aborts the signal. */
  readonly isHeld: boolean;
}

export interface Leadership {
  /** Runs `work` under the lease `name`. Null: another process has it, and `work` did not run. Rejects if `work` does. */
  once<Result>(
    name: string,
    work: (lease: ActiveLease) => Promise<Result>,
  ): Promise<{ readonly result: Result } | null>;
  /**
   * Competes for the lease `name` until stopped. While this process has it, `work` runs until its signal aborts. Work that ends early
   * or fails is restarted after a while, here or in another process.
   */
  lead(name: string, work: (lease: ActiveLease) => Promise<void>): Candidacy;
  close(): Promise<void>;
}

export interface Candidacy {
  readonly isLeading: boolean;
  /** Resolves when the work has ended and the lease is released. */
  stop(): Promise<void>;
}

/** A process of the installation. */
export interface Instance {
  /** `proc_…`: in logs, leases, the journal and Redis. */
  readonly id: string;
  /** `0.1.0+72c595dc1234`, with the commit if available. */
  readonly version: string;
  /** The name of its machine, container or pod. */
  readonly host: string;
}

/** Times are Unix milliseconds of the database's clock. */
export interface InstanceStatus extends Instance {
  readonly startedAt: number;
  readonly seenAt: number;
  /** Its last heartbeat was within instanceAliveMs. */
  readonly isAlive: boolean;
  /** Ended calls in its journal that were not in the ledger yet; null: not reported. */
  readonly journalLag: number | null;
}

/** Best-effort messages between the processes of an installation. The data itself is in the database; a message only prompts a read. */
export interface Broadcast {
  /** To all other processes. Texts over bounds.broadcastTextBytesMax, or too many at once, are dropped. */
  send(topic: BroadcastTopic, text: string): void;
  /** The returned function unsubscribes. */
  subscribe(topic: BroadcastTopic, listener: (text: string) => void): () => void;
  /** Whether messages seem to arrive. */
  readonly isUp: boolean;
  close(): Promise<void>;
}

/** `change`: the change feed has new entries. `config`: check the config file. `watch`: a user watches live requests. `row`: a request ended. */
export type BroadcastTopic = "change" | "config" | "watch" | "row";
