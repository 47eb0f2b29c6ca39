/** Work that one process of the installation does at a time, named `rollups`, `prune`, `partition:2026-11`… */
export interface Lease {
  readonly name: string;
  /** The id of the process that has it: `proc_…`. */
  readonly owner: string;
  /** Greater with each taking of this name, also after a release: who writes under a lesser one has lost it since. */
  readonly fence: number;
}

/** Times are Unix milliseconds of the database's clock. */
export interface LeaseHolder extends Lease {
  readonly takenAt: number;
  readonly until: number;
  /** How long it is still held, by the database's clock when it was asked. */
  readonly leftMs: number;
}

/** Leases in the database, by its clock; no replica's clock has a say. They reject where the database cannot be asked. */
export interface Leases {
  /**
   * Takes what is free, has lapsed, or is this owner's already (then under a new fence, and its earlier lease is over). Null:
   * another owner has it. Whoever got no answer may have it, and takes it again.
   */
  take(name: string, owner: string, leaseMs: number): Promise<Lease | null>;
  /** False: it was released, taken by somebody since, or has lapsed, and is not to be had back by renewing. */
  renew(lease: Lease, leaseMs: number): Promise<boolean>;
  /** The same for a lease that several keep alive under one owner's name, whichever of them took it last. False: nobody of that name has it. */
  extend(name: string, owner: string, leaseMs: number): Promise<boolean>;
  /** Others may have it at once. Nothing happens where it is not held any more. */
  release(lease: Lease): Promise<void>;
  /** Null: it is free. */
  holder(name: string): Promise<LeaseHolder | null>;
  /** Every lease that is held, by its name. */
  held(): Promise<readonly LeaseHolder[]>;
}

/** A lease that is kept: renewed at each third of its time. */
export interface KeptLease extends Lease {
  /**
   * Aborts when it is lost, and in any case before the database would give it to another: by the monotonic clock, so also
   * when the database does not answer.
   */
  readonly signal: AbortSignal;
  /** What the signal will say: also right after a stop of the whole process, before any timer has run. */
  readonly isHeld: boolean;
}

/** Who does what in the installation. */
export interface Leadership {
  /** Does `work` under the lease `name`, and releases it. Null: another has it, and nothing was done. Rejects as `work` does. */
  once<Result>(name: string, work: (lease: KeptLease) => Promise<Result>): Promise<{ readonly result: Result } | null>;
  /**
   * Takes part in leading `name` until it is stopped: whenever this process has the lease, `work` runs, and goes on until its
   * signal aborts. Work that ends before or fails is begun again after a while, here or elsewhere.
   */
  lead(name: string, work: (lease: KeptLease) => Promise<void>): Lead;
  /** Stops whatever is led, and releases what is held. */
  close(): Promise<void>;
}

export interface Lead {
  readonly isLeading: boolean;
  /** Resolves when the work has ended and the lease is released. */
  stop(): Promise<void>;
}

/** A process of the installation. */
export interface Instance {
  /** `proc_…`: made once in the life of a process; in logs, leases, the journal and the shared counter. */
  readonly id: string;
  /** `0.1.0+72c595dc1234`, with the commit where it is known. */
  readonly version: string;
  /** The name of its machine, container or pod. */
  readonly host: string;
}

/** Times are Unix milliseconds of the database's clock. */
export interface SeenInstance extends Instance {
  readonly startedAt: number;
  readonly seenAt: number;
  /** It was seen within instanceAliveMs. */
  readonly isAlive: boolean;
  /** Ended calls that were in its journal and not in the ledger when it was seen; null: it did not say. */
  readonly journalLag: number | null;
}

/**
 * Short words between the processes of an installation. They come soon or not at all: what must not be missed stands in the
 * database, and a word only says when to look. In one process nobody else hears.
 */
export interface Broadcast {
  /** To every other process that listens. At most bounds.broadcastTextBytesMax; longer, or too many at once, are dropped. */
  send(topic: BroadcastTopic, text: string): void;
  /** Calls `listener` for what other processes send, until the returned function is called. */
  subscribe(topic: BroadcastTopic, listener: (text: string) => void): () => void;
  /** Whether words arrive here, as far as is known. */
  readonly isUp: boolean;
  close(): Promise<void>;
}

/**
 * `change`: the change feed has news. `config`: whoever applies the config file looks at it. `watch` and `row`: somebody looks at
 * requests as they end; one has ended.
 */
export type BroadcastTopic = "change" | "config" | "watch" | "row";
