import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { TruthRecord } from "@sluice/simulator";
import { until } from "../until.ts";
import { judgeLedger, type Verdict } from "./judge-ledger.ts";
import { readKeyUsage } from "./key-usage.ts";
import { type CallRecord, KillLoad } from "./kill-load.ts";
import { exportLedger } from "./ledger-rows.ts";
import { startGateway } from "./start-gateway.ts";
import { startSimulator } from "./start-simulator.ts";
import { keys, testConfig } from "./test-config.ts";

export interface KillLoopOptions {
  /** The loop ends after at least this many kills, calls and complete answers. */
  readonly kills: number;
  readonly calls: number;
  readonly finished: number;
  /** The minimum duration. */
  readonly seconds: number;
  readonly clients: number;
  /** Share of calls that the caller aborts during the answer. */
  readonly abortShare: number;
  readonly killAfterMs: readonly [min: number, max: number];
  readonly seed: number;
  readonly durability: "process" | "disk" | "strict";
}

export const shortKillLoop: KillLoopOptions = {
  kills: 8,
  calls: 300,
  finished: 110,
  seconds: 0,
  clients: 12,
  abortShare: 0.15,
  killAfterMs: [500, 1_200],
  seed: 1,
  durability: "disk",
};

const wideLimits = {
  limits: { concurrency: 10_000 },
  budget: { usd: 100_000, period: "total" },
} as const;

export interface KillLoopReport extends Verdict {
  /** The difference between the budget's counter and the ledger; a leaked reservation would show here. */
  readonly budgetErrorNanoUsd: number;
  readonly kills: number;
  readonly calls: number;
  readonly finishedCalls: number;
  /** Exit status of `sluice ledger verify`. */
  readonly verifyStatus: number;
  readonly verifyOutput: string;
  readonly slowestStartMs: number;
}

/**
 * Kills the gateway repeatedly under load, then compares what the upstream served with the ledger. The upstream is a separate
 * process that survives every kill and writes its records to a file.
 */
export async function runKillLoop(options: KillLoopOptions): Promise<KillLoopReport> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-kill-loop-"));
  const truthFile = join(folder, "truth.jsonl");
  const simulator = await startSimulator({ truthFile });
  const gateway = await startGateway({
    config: {
      ...testConfig(simulator.url),
      workspaces: [{ slug: "acme", keys: [{ name: "main", secret: keys.main, ...wideLimits }] }],
      settings: { ledger: { durability: options.durability } },
    },
  });
  try {
    const load = new KillLoad([gateway.url], options);
    const loaded = load.run();
    let kills = 0;
    let slowestStartMs = 0;
    const notBefore = performance.now() + options.seconds * 1_000;
    const enough = () => kills >= options.kills && load.made >= options.calls && load.finished >= options.finished;
    while (!enough() || performance.now() < notBefore) {
      await Bun.sleep(load.between(...options.killAfterMs));
      await gateway.kill9();
      kills += 1;
      const started = performance.now();
      await gateway.restart();
      slowestStartMs = Math.max(slowestStartMs, performance.now() - started);
    }
    load.stop();
    const calls: readonly CallRecord[] = await loaded;
    await simulator.settled();
    // The limits are far above the load: in the end the counters must match the ledger and nothing may be reserved.
    const usage = await until(async () => {
      const now = await readKeyUsage(gateway.url, keys.main);
      return now?.running === 0 ? now : null;
    });
    // A clean stop drains the journal into the database; the next start recovers what the kills left.
    await gateway.stop();
    await gateway.restart();
    const verify = await gateway.cli("ledger", "verify");
    const rows = await exportLedger(gateway);
    const ledgerNanoUsd = rows.reduce((sum, row) => sum + row.cost_nano_usd, 0);
    return {
      ...judgeLedger({ truth: readTruth(truthFile), rows, calls }),
      budgetErrorNanoUsd: usage.spentNanoUsd - ledgerNanoUsd,
      kills,
      calls: calls.length,
      finishedCalls: calls.filter((call) => call.finished).length,
      verifyStatus: verify.status,
      verifyOutput: `${verify.stdout}${verify.stderr}`.trim(),
      slowestStartMs: Math.round(slowestStartMs),
    };
  } finally {
    await gateway.remove();
    await simulator.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

export function readTruth(file: string): readonly TruthRecord[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): TruthRecord => JSON.parse(line));
}

/** bun test/acceptance/kill-loop.ts [--seconds N] [--clients N] [--aborts 0.15] [--kill-min MS] [--kill-max MS] [--seed N] [--durability disk] */
if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seconds: { type: "string", default: "300" },
      clients: { type: "string", default: "24" },
      aborts: { type: "string", default: String(shortKillLoop.abortShare) },
      "kill-min": { type: "string", default: String(shortKillLoop.killAfterMs[0]) },
      "kill-max": { type: "string", default: String(shortKillLoop.killAfterMs[1]) },
      seed: { type: "string", default: String(shortKillLoop.seed) },
      durability: { type: "string", default: shortKillLoop.durability },
    },
  });
  const { durability } = values;
  if (durability !== "process" && durability !== "disk" && durability !== "strict") {
    throw new Error("--durability is process, disk or strict");
  }
  const report = await runKillLoop({
    kills: shortKillLoop.kills,
    calls: shortKillLoop.calls,
    finished: shortKillLoop.finished,
    seconds: Number(values.seconds),
    clients: Number(values.clients),
    abortShare: Number(values.aborts),
    killAfterMs: [Number(values["kill-min"]), Number(values["kill-max"])],
    seed: Number(values.seed),
    durability,
  });
  console.log(JSON.stringify(report, null, 2));
  const good = report.faults.length === 0 && report.verifyStatus === 0 && report.budgetErrorNanoUsd === 0;
  process.exit(good ? 0 : 1);
}
