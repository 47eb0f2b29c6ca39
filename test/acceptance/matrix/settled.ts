import type { TruthRecord } from "@sluice/simulator";
import { exportLedger, type LedgerRow } from "../ledger-rows.ts";
import type { Gateway } from "../start-gateway.ts";
import type { SimulatorProcess } from "../start-simulator.ts";

/** Additional columns that the matrix checks. */
interface SettledRow extends LedgerRow {
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly caller_dialect: string;
  readonly upstream_dialect: string;
}

/** The ledger entry and the upstream's record of the attempt that answered a call. */
export interface Records {
  readonly row: SettledRow;
  readonly truth: TruthRecord;
}

/** Finds the attempt that answered a request, in the ledger and in the upstream's records. */
export interface Settled {
  find(requestId: string): Records;
  readonly rows: readonly SettledRow[];
}

export async function readSettled(gateway: Gateway, simulator: SimulatorProcess): Promise<Settled> {
  const records = await simulator.settled();
  const truth = new Map(records.map((record): [string, TruthRecord] => [record.attempt_id, record]));
  const rows = (await exportLedger(gateway)) as readonly SettledRow[];
  const byRequest = Map.groupBy(rows, (row) => row.request_id);
  return {
    rows,
    find(requestId) {
      const row = byRequest.get(requestId)?.at(-1);
      const record = row === undefined ? undefined : truth.get(row.attempt_id);
      if (row === undefined || record === undefined)
        throw new Error(`${requestId} is not in the ledger and in the upstream's records`);
      return { row, truth: record };
    },
  };
}
