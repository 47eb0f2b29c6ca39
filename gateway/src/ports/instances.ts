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

/** The processes of the installation, as the database has seen them. */
export interface Instances {
  /** Tells that this process is here: at its start, and each bounds.instanceTellMs. Those not seen for a day are forgotten. */
  tell(instance: Instance, journalLag?: number): Promise<void>;
  /** At its orderly end. */
  leave(id: string): Promise<void>;
  /** In the order of their starts. */
  list(): Promise<readonly SeenInstance[]>;
  /** Whether that process was seen within instanceAliveMs. */
  isAlive(id: string): Promise<boolean>;
}
