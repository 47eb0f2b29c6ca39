import { seededChance } from "../../gateway/test/simulation/seeded-chance.ts";
import { judgeLedger } from "../acceptance/judge-ledger.ts";
import { readKeyUsage } from "../acceptance/key-usage.ts";
import { type CallSeen, KillLoad } from "../acceptance/kill-load.ts";
import { readTruth } from "../acceptance/kill-loop.ts";
import { exportLedger, type LedgerRow } from "../acceptance/ledger-rows.ts";
import type { Gateway } from "../acceptance/start-gateway.ts";
import { keys } from "../acceptance/test-config.ts";
import { until } from "../until.ts";
import { judgeNearEnd, NearEndLoad } from "./near-end-load.ts";
import { type Finding, finding, say, unlike, whileMoving } from "./proof.ts";
import { type TroublesOptions, troubleThem } from "./prove-troubles.ts";

export interface KillsOptions extends Omit<TroublesOptions, "between" | "isEnough" | "reached"> {
  readonly truthFile: string;
  /** It ends when as many calls have been begun to be answered, and each trouble has come at least once. */
  readonly calls: number;
  readonly seed: number;
}

const clients = 48;
/** Share of callers who leave in the middle. */
const abortShare = 0.15;
/** Share of calls that the upstream refuses at first. */
const failShare = 0.05;

/** Callers go on while replicas, Redis and PostgreSQL die, stand still and come back; then the books are compared. */
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
    (least, most) => least + Math.floor(chance.unit() * (most - least + 1)),
  );
  const loaded = Promise.all([load.run(), nearEnd.run()]).then(([calls]) => calls);
  const { struck, faults } = await troubleThem({
    ...options,
    between: (least, most) => load.between(least, most),
    isEnough: () => load.served >= options.calls,
    reached: () => `${load.served} calls served`,
  });
  load.stop();
  nearEnd.stop();
  const calls = await whileMoving(loaded, () => load.made);
  if (calls === null) faults.push("callers still wait, and no call ends");
  await simulator.settled();
  faults.push(...(await atRest(gateways)));
  for (const [at, gateway] of gateways.entries()) {
    faults.push(...fault(unlike(`exit status of replica ${at + 1}`, await gateway.stop(), 0)));
  }
  for (const gateway of gateways) await gateway.restart();
  return [
    finding(`kill loop: ${load.served} calls served, ${load.made} made`, say(struck), faults),
    ...(await books(gateways, readTruth(truthFile), calls ?? [], before)),
    ...judgeNearEnd(readTruth(truthFile)),
  ];
}

/** What the ledger holds is what the upstream served and what every replica counts. */
async function books(
  gateways: readonly Gateway[],
  truth: ReturnType<typeof readTruth>,
  calls: readonly CallSeen[],
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
      "every attempt that the upstream saw has one entry",
      `${verdict.upstreamAttempts} attempts, ${verdict.ledgerAttempts} entries (${say(new Map(Object.entries(verdict.outcomes)))}; ${verdict.neverSent} never sent)`,
      [unlike("missing", verdict.missing, 0), unlike("doubled", verdict.doubled, 0), ...verdict.faults],
    ),
    finding("output tokens of finished calls", `${entered} in the ledger, ${served} at the upstream`, [
      unlike("output tokens", entered, served),
      unlike("wrong tokens", verdict.wrongTokens, 0),
      unlike("wrong costs", verdict.wrongCost, 0),
    ]),
    finding(
      "sluice ledger verify",
      `status ${verify.status}`,
      fault(verify.status === 0 ? null : `${verify.stdout}${verify.stderr}`.trim()),
    ),
    await counted(
      gateways,
      rows.filter((row) => row.model === "gpt-test" && !before.has(row.attempt_id)),
    ),
  ];
}

/** The budget of the loop's key has seen what is in the ledger of it: nothing is held, nothing forgotten, nothing twice. */
async function counted(gateways: readonly Gateway[], rows: readonly LedgerRow[]): Promise<Finding> {
  const booked = rows.reduce((all, row) => all + row.cost_nano_usd, 0);
  const told = await Promise.all(
    gateways.map(async (gateway) => {
      let spent = Number.NaN;
      await until(async () => {
        spent = (await readKeyUsage(gateway.url, keys.main))?.spentNanoUsd ?? spent;
        return spent === booked;
      }).catch(() => undefined);
      return spent;
    }),
  );
  return finding(
    "the budget as every replica counts it",
    `${booked} nano-USD in the ledger`,
    told.map((spent, at) => unlike(`replica ${at + 1}`, spent, booked)),
  );
}

/** Nothing is under way, so nothing may be held. */
async function atRest(gateways: readonly Gateway[]): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [at, gateway] of gateways.entries()) {
    let running = Number.NaN;
    await until(async () => {
      running = (await readKeyUsage(gateway.url, keys.main))?.running ?? running;
      return running === 0;
    }).catch(() => faults.push(`replica ${at + 1} counts ${running} calls under way, and there is none`));
  }
  return faults;
}

function tokens(truth: ReturnType<typeof readTruth>): number {
  return truth.reduce((all, record) => all + record.output_tokens_emitted, 0);
}

function fault(one: string | null): readonly string[] {
  return one === null ? [] : [one];
}
