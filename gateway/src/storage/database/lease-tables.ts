/** What processes share beside their data. Times are those of the database's clock, see `databaseNow`. */
export interface LeaseTables {
  leases: LeaseTable;
  instances: InstanceTable;
  tries: TryTable;
}

/** A row stays after its release, so that its fence goes on growing. `owner` null: released. */
interface LeaseTable {
  name: string;
  owner: string | null;
  fence: number;
  taken_at: number;
  until: number;
}

interface InstanceTable {
  id: string;
  version: string;
  host: string;
  started_at: number;
  seen_at: number;
  /** Entries of its journal that were not in the ledger then; null: it did not say. */
  journal_lag: number | null;
}

/** A window of tries, by the digest of what is tried and with which key. */
interface TryTable {
  name: string;
  count: number;
  /** 1: nothing more may be tried in it. */
  used_up: number;
  length_ms: number;
  ends_at: number;
}
