import { until } from "../until.ts";
import type { Gateway } from "./start-gateway.ts";
import { testPrice } from "./test-config.ts";

/** The columns of `sluice ledger export` that these tests check. */
export interface LedgerRow {
  readonly attempt_id: string;
  readonly request_id: string;
  readonly model: string;
  readonly provider: string;
  readonly stream: boolean;
  readonly retry_index: number;
  readonly outcome: "succeeded" | "failed" | "cancelled" | "interrupted" | "rejected";
  readonly http_status: number;
  readonly error_code: string | null;
  readonly input_uncached: number;
  readonly cache_read: number;
  readonly output: number;
  readonly reasoning: number;
  readonly usage_source: "upstream" | "estimated" | "none";
  readonly cost_nano_usd: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** The whole ledger, exported with the CLI once everything that has ended is in the database. */
export async function exportLedger(gateway: Gateway): Promise<readonly LedgerRow[]> {
  await until(async () => (await lagOf(gateway)) === 0);
  const { status, stdout, stderr } = await gateway.cli("ledger", "export", "--json");
  if (status !== 0) throw new Error(`sluice ledger export: ${stderr}`);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line): LedgerRow => JSON.parse(line));
}

/** Entries that are still in the journal; 0 if the gateway is not running. */
async function lagOf({ url }: Gateway): Promise<number> {
  const answer = await fetch(`${url}/metrics`, { headers: { connection: "close" } }).catch(() => null);
  if (answer === null) return 0;
  return Number(/^sluice_ledger_lag_entries (\d+)$/m.exec(await answer.text())?.[1]);
}

/** The expected cost, computed independently of the gateway: pico-USD per token, summed, and rounded half up to nano-USD. */
export function expectedNanoUsd(usage: Pick<LedgerRow, "input_uncached" | "cache_read" | "output">): number {
  const pico =
    BigInt(usage.input_uncached) * picoPerToken(testPrice.input) +
    BigInt(usage.cache_read) * picoPerToken(testPrice.cache_read) +
    BigInt(usage.output) * picoPerToken(testPrice.output);
  return Number((pico + 500n) / 1000n);
}

/** USD per million tokens equals micro-USD per token. */
function picoPerToken(usdPerMillion: number): bigint {
  return BigInt(Math.round(usdPerMillion * 1_000_000));
}
