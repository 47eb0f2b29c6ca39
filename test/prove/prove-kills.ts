import { seededChance } from "../../gateway/test/simulation/seeded-chance.ts";
import { judgeLedger } from "../acceptance/judge-ledger.ts";
import { readKeyUsage } from "../acceptance/key-usage.ts";
import { type CallRecord, KillLoad } from "../acceptance/kill-load.ts";
import { readTruth } from "../acceptance/kill-loop.ts";
import { exportLedger, type LedgerRow } from "../acceptance/ledger-rows.ts";
import type { Gateway } from "../acceptance/start-gateway.ts";
import { keys } from "../acceptance/test-config.ts";
import { until } from "../until.ts";
import { type DisruptOptions, disrupt } from "./disruptions.ts";
import { judgeNearEnd, NearEndLoad } from "./near-end-load.ts";
import { type Finding, finding, formatCounts, mismatch, whileProgressing } from "./proof.ts";

export interface KillsOptions extends Omit<DisruptOptions, "between" | "isEnough" | "reached"> {
  readonly truthFile: string;
  /** The loop ends when this many calls were served and each disruption happened at least once. */
  readonly calls: number;
  readonly seed: number;
}

const clients = 48;
/** Share of callers that abort during the answer. */
const abortShare = 0.15;
/** Share of calls that the upstream refuses on the first attempt. */
const failShare = 0.05;

/** Calls continue while replicas, Redis and PostgreSQL are killed, stopped and restarted; then the ledger is compared. */
export async function proveKills(options: KillsOptions): Promise<readonly Finding[]> {
  const { replicas, truthFile } = options;
  const { gateways, simulator } = replicas;
  const before = new Set(readTruth(truthFile).map((record) => record.attempt_id));
  const load = new KillLoad(
    gateways.map(({ url }) => url),
    { clients, abortShare, failShare, seed: options.seed },
  );
  const chance = seededChance(options.seed + 1);
  const nearEnd = new NearEndLoad(
    gateways.map(({ url }) => url),
    (min, max) => min + Math.floor(chance.unit() * (max - min + 1)),
  );
  const loaded = Promise.all([load.run(), nearEnd.run()]).then(([calls]) => calls);
  const { counts, faults } = await disrupt({
    ...options,
    between: (min, max) => load.between(min, max),
    isEnough: () => load.served >= options.calls,
    reached: () => `${load.served} calls served`,
  });
  load.stop();
  nearEnd.stop();
  const calls = await whileProgressing(loaded, () => load.made);
  if (calls === null) faults.push("callers are still waiting and no call ends");
  await simulator.settled();
  faults.push(...(await checkNothingRunning(gateways)));
  for (const [at, gateway] of gateways.entries()) {
    faults.push(...fault(mismatch(`exit status of replica ${at + 1}`, await gateway.stop(), 0)));
  }
  for (const gateway of gateways) await gateway.restart();
  return [
    finding(`kill loop: ${load.served} calls served, ${load.made} made`, formatCounts(counts), faults),
    ...(await compareLedger(gateways, readTruth(truthFile), calls ?? [], before)),
    ...judgeNearEnd(readTruth(truthFile)),
  ];
}

/** Compares the ledger with what the upstream served and with what every replica counts. */
async function compareLedger(
  gateways: readonly Gateway[],
  truth: ReturnType<typeof readTruth>,
  calls: readonly CallRecord[],
  before: ReadonlySet<string>,
): Promise<readonly Finding[]> {
  const [gateway] = gateways;
  if (gateway === undefined) return [];
  const verify = await gateway.cli("ledger", "verify");
  const rows = await exportLedger(gateway);
  const verdict = judgeLedger({ truth, rows, calls });
  const finished = new Set(rows.filter(({ outcome }) => outcome === "succeeded").map((row) => row.attempt_id));
  const served = tokens(truth.filter(({ attempt_id }) => finished.has(attempt_id)));
  const entered = rows.filter(({ outcome }) => outcome === "succeeded").reduce((all, row) => all + row.output, 0);
  return [
    finding(
      "every attempt that the upstream received has one entry",
      `${verdict.upstreamAttempts} attempts, ${verdict.ledgerAttempts} entries (${formatCounts(new Map(Object.entries(verdict.outcomes)))}; ${verdict.neverSent} never sent)`,
      [mismatch("missing", verdict.missing, 0), mismatch("duplicates", verdict.duplicates, 0), ...verdict.faults],
    ),
    finding("output tokens of finished calls", `${entered} in the ledger, ${served} at the upstream`, [
      mismatch("output tokens", entered, served),
      mismatch("wrong tokens", verdict.wrongTokens, 0),
      mismatch("wrong costs", verdict.wrongCost, 0),
    ]),
    finding(
      "sluice ledger verify",
      `status ${verify.status}`,
      fault(verify.status === 0 ? null : `${verify.stdout}${verify.stderr}`.trim()),
    ),
    await compareBudgets(
      gateways,
      rows.filter((row) => row.model === "gpt-test" && !before.has(row.attempt_id)),
    ),
  ];
}

/** The key's budget counts exactly what the ledger contains: nothing is still reserved, missing or counted twice. */
async function compareBudgets(gateways: readonly Gateway[], rows: readonly LedgerRow[]): Promise<Finding> {
  const ledgerNanoUsd = rows.reduce((all, row) => all + row.cost_nano_usd, 0);
  const counts = await Promise.all(
    gateways.map(async (gateway) => {
      let spent = Number.NaN;
      await until(async () => {
        spent = (await readKeyUsage(gateway.url, keys.main))?.spentNanoUsd ?? spent;
        return spent === ledgerNanoUsd;
      }).catch(() => undefined);
      return spent;
    }),
  );
  return finding(
    "the budget as every replica counts it",
    `${ledgerNanoUsd} nano-USD in the ledger`,
    counts.map((spent, at) => mismatch(`replica ${at + 1}`, spent, ledgerNanoUsd)),
  );
}

/** No call is running, so no counter may show one. */
async function checkNothingRunning(gateways: readonly Gateway[]): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [at, gateway] of gateways.entries()) {
    let running = Number.NaN;
    await until(async () => {
      running = (await readKeyUsage(gateway.url, keys.main))?.running ?? running;
      return running === 0;
    }).catch(() => faults.push(`replica ${at + 1} counts ${running} running calls, but there are none`));
  }
  return faults;
}

function tokens(truth: ReturnType<typeof readTruth>): number {
  return truth.reduce((all, record) => all + record.output_tokens_emitted, 0);
}

function fault(problem: string | null): readonly string[] {
  return problem === null ? [] : [problem];
}
