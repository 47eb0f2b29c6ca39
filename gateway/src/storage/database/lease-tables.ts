/** The tables that migration 025 adds. Times are those of the database's clock, see `databaseNow`. */
export interface LeaseTables {
  leases: LeaseTable;
  instances: InstanceTable;
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
}
