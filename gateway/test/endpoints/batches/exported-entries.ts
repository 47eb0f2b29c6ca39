import type { Gateway } from "../../../../test/acceptance/start-gateway.ts";
import { until } from "../../../../test/until.ts";

interface Exported {
  readonly batch_id: string | null;
  readonly custom_id: string | null;
  readonly outcome: string;
  readonly cost_nano_usd: number;
}

/** Waits until everything that was settled is in the database. */
export async function exportedEntries(gateway: Gateway): Promise<readonly Exported[]> {
  let before = -1;
  return await until(async () => {
    const { stdout } = await gateway.cli("ledger", "export");
    const entries = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Exported]));
    const isStable = entries.length === before;
    before = entries.length;
    return isStable ? entries : null;
  });
}
