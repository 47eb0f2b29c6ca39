import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { canFillDisks } from "../../scripts/full-disk.mjs";
import { startPostgres } from "../../scripts/postgres.mjs";
import { publicHost } from "../acceptance/public-host.ts";
import { type Replicas, startReplicas } from "../acceptance/replicas.ts";
import { noRedis } from "../redis-server.ts";
import { startBucket } from "./bucket.ts";
import { type Pace, progress } from "./pace.ts";
import { type Finding, finding, table } from "./proof.ts";
import { proveConfig } from "./prove-config.ts";
import { proveKills } from "./prove-kills.ts";
import { proveLimits } from "./prove-limits.ts";
import { proveMoney } from "./prove-money.ts";
import { proveVideos } from "./prove-videos.ts";
import { startProxies } from "./proxies.ts";

const usage = `npm run prove -- [--calls 10000] [--seed N] [--clients 200] [--limit 1000] [--minutes 60] [--videos 300] [--only limits,money,kills,videos] [--keep FOLDER]

Runs three replicas of the gateway on their own PostgreSQL and Redis; about ten minutes on two cores. Linux only.

  --calls     calls that the kill loop must serve
  --videos    videos ordered during the same disruptions
  --seed      seed of every random choice; each run prints it
  --clients   concurrent clients of the limit and budget checks
  --limit     requests per minute that must be admitted exactly
  --minutes   approximate duration: rounds on new replicas and databases, each with the next seed and longer
              disruptions. Default: one round in which each disruption happens at least once
  --only      parts to run: limits, money, kills, videos
  --keep      folder for what the upstream served and what the replicas printed in a failed round
`;

const parts: readonly string[] = ["limits", "money", "kills", "videos"];

/** The time limit of one kill loop without --minutes. */
const loopMsMax = 40 * 60_000;
/** The share of the remaining time that the kill loop gets when videos follow. */
const killsShare = 0.6;
/** A shorter round proves nothing new. */
const roundMsMin = 120_000;

/** The budget per call to admit, in USD; about the most that a call costs. */
const usdPerCall = 0.000_015;

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      calls: { type: "string", default: "10000" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      clients: { type: "string", default: "200" },
      limit: { type: "string", default: "1000" },
      minutes: { type: "string" },
      videos: { type: "string", default: "300" },
      only: { type: "string", default: parts.join() },
      keep: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return true;
  }
  const options = {
    calls: wholeNumber("calls", values.calls),
    clients: wholeNumber("clients", values.clients),
    rpm: wholeNumber("limit", values.limit),
    orders: wholeNumber("videos", values.videos),
  };
  const firstSeed = wholeNumber("seed", values.seed);
  const minutes = values.minutes === undefined ? null : wholeNumber("minutes", values.minutes);
  const keep = values.keep ?? null;
  const only = new Set(values.only.split(","));
  for (const part of only) {
    if (!parts.includes(part)) throw new Error(`unknown part ${part}\n\n${usage}`);
  }
  if (noRedis !== null) throw new Error(noRedis);
  if (!canFillDisks()) throw new Error("this needs prlimit (util-linux) on Linux, which simulates full disks");
  const endMs = minutes === null ? null : performance.now() + minutes * 60_000;
  const rounds: { readonly seed: number; readonly findings: readonly Finding[] }[] = [];
  do {
    const round = rounds.length;
    const seed = firstSeed + round;
    progress(`round ${round + 1}, seed ${seed}, ${new Date().toISOString()}`);
    const findings: Finding[] = [];
    await proveOnce({ ...options, seed, only, keep, pace: { minutes, round }, endMs }, findings).catch(
      (thrown: unknown) => {
        const why = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
        findings.push(finding(`round ${round + 1}`, "it stopped with an error", [why]));
      },
    );
    rounds.push({ seed, findings });
  } while (endMs !== null && endMs - performance.now() > roundMsMin);
  for (const { seed, findings } of rounds) {
    console.log(`\n${table(findings)}\n\n${isProved(findings) ? "proved" : "NOT PROVED"} (seed ${seed})`);
  }
  const proved = rounds.filter(({ findings }) => isProved(findings)).length;
  if (rounds.length > 1) console.log(`\n${proved} of ${rounds.length} rounds proved`);
  return proved === rounds.length;
}

interface Round {
  readonly calls: number;
  readonly clients: number;
  readonly rpm: number;
  readonly orders: number;
  readonly seed: number;
  readonly only: ReadonlySet<string>;
  readonly keep: string | null;
  readonly pace: Pace;
  /** When the run ends, in milliseconds of `performance.now`; null if no duration was given. */
  readonly endMs: number | null;
}

/** Adds its findings to `findings`. It starts its own servers, and stops and removes them at the end. */
async function proveOnce({ seed, only, keep, pace, endMs, ...options }: Round, findings: Finding[]): Promise<void> {
  const { calls, clients, rpm, orders } = options;
  const folder = mkdtempSync(join(tmpdir(), "sluice-prove-"));
  const truthFile = join(folder, "truth.jsonl");
  let isComplete = false;
  const cleanup: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  try {
    const postgres = await startPostgres({ keepsCommits: true });
    cleanup.push(async () => {
      if (!(await postgres.stop())) console.error("PostgreSQL was not stopped cleanly");
    });
    if (postgres.url === null) throw new Error(postgres.why ?? "PostgreSQL is not available");
    const bucket = await startBucket();
    cleanup.push(() => bucket.stop());
    const proxies = await startProxies();
    cleanup.push(() => proxies.stop());
    const budgetUsd = rpm * usdPerCall;
    const replicas = await startReplicas({
      postgresUrl: postgres.url,
      count: 3,
      config: (simulatorUrl) => proveConfig(simulatorUrl, rpm, budgetUsd),
      simulator: { truthFile },
      setPublicUrl: true,
      proxyUrl: proxies.to,
      env: {
        ...bucket.variables,
        PUBLIC_HOST: publicHost,
        BUN_OPTIONS: `--preload=${join(import.meta.dir, "..", "acceptance", "public-host.ts")}`,
      },
    });
    cleanup.push(() => replicas.close());
    cleanup.push(async () => {
      if (keep === null || (isComplete && isProved(findings))) return;
      try {
        saveEvidence(join(keep, String(seed)), truthFile, replicas);
      } catch (thrown) {
        progress(`could not save the evidence: ${thrown}`);
      }
    });
    const add = (more: readonly Finding[]): void => {
      findings.push(...more);
      console.log(table(more));
    };
    const loop = { replicas, postgres, proxies, truthFile, seed, pace };
    const untilMs = (share: number): number => {
      const nowMs = performance.now();
      return endMs === null ? nowMs + loopMsMax : nowMs + Math.max(0, endMs - nowMs) * share;
    };
    if (only.has("limits")) add(await proveLimits(replicas, { clients, rpm, proxies }));
    if (only.has("money")) add(await proveMoney(replicas, { clients, budgetUsd, seed }));
    if (only.has("kills")) {
      add(await proveKills({ ...loop, calls, untilMs: untilMs(only.has("videos") ? killsShare : 1) }));
    }
    if (only.has("videos")) add(await proveVideos({ ...loop, bucket, orders, untilMs: untilMs(1) }));
    isComplete = true;
  } finally {
    for (const step of cleanup.reverse()) await step();
  }
}

function saveEvidence(folder: string, truthFile: string, { gateways }: Replicas): void {
  mkdirSync(folder, { recursive: true });
  cpSync(truthFile, join(folder, "truth.jsonl"));
  for (const [at, gateway] of gateways.entries())
    writeFileSync(join(folder, `replica-${at + 1}.log`), gateway.history());
  progress(`evidence of the round is in ${folder}`);
}

function isProved(findings: readonly Finding[]): boolean {
  return findings.every(({ good }) => good);
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`--${name} must be a whole number of at least 1\n\n${usage}`);
  return number;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.stack : String(thrown));
  process.exitCode = 1;
}
