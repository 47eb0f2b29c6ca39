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
import { openWays } from "./ways.ts";

const usage = `npm run prove -- [--calls 10000] [--seed N] [--clients 200] [--limit 1000] [--minutes 60] [--videos 300] [--only limits,money,kills,videos] [--keep FOLDER]

Three replicas of the gateway on a real PostgreSQL and Redis of its own, about ten minutes on two cores. Linux.

  --calls     of the kill loop, begun to be answered with success
  --videos    that are ordered while the same befalls
  --seed      of everything that is left to chance; a run prints it
  --clients   of the limits and of the budget, at the same time
  --limit     requests a minute that must be admitted exactly
  --minutes   about how long it takes: rounds on new replicas and databases, each with the next seed and
              longer troubles. Left out: one round, in which each trouble comes at least once
  --only      some of it
  --keep      where a round that is not proved leaves what the upstream served and what the replicas printed
`;

const parts: readonly string[] = ["limits", "money", "kills", "videos"];

/** The most that one kill loop may take where nobody said how long. */
const loopMsMax = 40 * 60_000;
/** Of what is left, the share of the kill loop before that of videos. */
const killsShare = 0.6;
/** In less nothing is proved that was not before. */
const roundMsMin = 120_000;

/** The most that one run of the budget's calls can cost is about this for each call that it is to admit. */
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
  const asked = {
    calls: wholeNumber("calls", values.calls),
    clients: wholeNumber("clients", values.clients),
    rpm: wholeNumber("limit", values.limit),
    orders: wholeNumber("videos", values.videos),
  };
  const firstSeed = wholeNumber("seed", values.seed);
  const minutes = values.minutes === undefined ? null : wholeNumber("minutes", values.minutes);
  const keep = values.keep ?? null;
  const only = new Set(values.only.split(","));
  for (const one of only) {
    if (!parts.includes(one)) throw new Error(`there is no part ${one}\n\n${usage}`);
  }
  if (noRedis !== null) throw new Error(noRedis);
  if (!canFillDisks()) throw new Error("full disks are made with prlimit (util-linux) on Linux, which is not here");
  const endMs = minutes === null ? null : performance.now() + minutes * 60_000;
  const rounds: { readonly seed: number; readonly findings: readonly Finding[] }[] = [];
  do {
    const round = rounds.length;
    const seed = firstSeed + round;
    progress(`round ${round + 1}, seed ${seed}, ${new Date().toISOString()}`);
    const findings: Finding[] = [];
    await proveOnce({ ...asked, seed, only, keep, pace: { minutes, round }, endMs }, findings).catch(
      (thrown: unknown) => {
        const why = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
        findings.push(finding(`round ${round + 1}`, "it broke off", [why]));
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
  /** When the run is to end, in milliseconds of `performance.now`; null: nobody said. */
  readonly endMs: number | null;
}

/** Adds what it finds. All of it on servers of its own, which are gone afterwards with all that they have stored. */
async function proveOnce({ seed, only, keep, pace, endMs, ...asked }: Round, findings: Finding[]): Promise<void> {
  const { calls, clients, rpm, orders } = asked;
  const folder = mkdtempSync(join(tmpdir(), "sluice-prove-"));
  const truthFile = join(folder, "truth.jsonl");
  let isWhole = false;
  const closing: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
  try {
    const postgres = await startPostgres({ keepsCommits: true });
    closing.push(async () => {
      if (!(await postgres.stop())) console.error("PostgreSQL has left something behind");
    });
    if (postgres.url === null) throw new Error(postgres.why ?? "there is no PostgreSQL");
    const bucket = await startBucket();
    closing.push(() => bucket.stop());
    const ways = await openWays();
    closing.push(() => ways.stop());
    const budgetUsd = rpm * usdPerCall;
    const replicas = await startReplicas({
      postgresUrl: postgres.url,
      count: 3,
      config: (simulatorUrl) => proveConfig(simulatorUrl, rpm, budgetUsd),
      simulator: { truthFile },
      knowTheirAddresses: true,
      wayTo: ways.to,
      env: {
        ...bucket.variables,
        PUBLIC_HOST: publicHost,
        BUN_OPTIONS: `--preload=${join(import.meta.dir, "..", "acceptance", "public-host.ts")}`,
      },
    });
    closing.push(() => replicas.close());
    closing.push(async () => {
      if (keep === null || (isWhole && isProved(findings))) return;
      try {
        keepEvidence(join(keep, String(seed)), truthFile, replicas);
      } catch (thrown) {
        progress(`the evidence could not be kept: ${thrown}`);
      }
    });
    const add = (more: readonly Finding[]): void => {
      findings.push(...more);
      console.log(table(more));
    };
    const loop = { replicas, postgres, ways, truthFile, seed, pace };
    const untilMs = (share: number): number => {
      const nowMs = performance.now();
      return endMs === null ? nowMs + loopMsMax : nowMs + Math.max(0, endMs - nowMs) * share;
    };
    if (only.has("limits")) add(await proveLimits(replicas, { clients, rpm, ways }));
    if (only.has("money")) add(await proveMoney(replicas, { clients, budgetUsd, seed }));
    if (only.has("kills")) {
      add(await proveKills({ ...loop, calls, untilMs: untilMs(only.has("videos") ? killsShare : 1) }));
    }
    if (only.has("videos")) add(await proveVideos({ ...loop, bucket, orders, untilMs: untilMs(1) }));
    isWhole = true;
  } finally {
    for (const step of closing.reverse()) await step();
  }
}

function keepEvidence(folder: string, truthFile: string, { gateways }: Replicas): void {
  mkdirSync(folder, { recursive: true });
  cpSync(truthFile, join(folder, "truth.jsonl"));
  for (const [at, gateway] of gateways.entries())
    writeFileSync(join(folder, `replica-${at + 1}.log`), gateway.history());
  progress(`evidence of the round is in ${folder}`);
}

function isProved(findings: readonly Finding[]): boolean {
  return findings.every((one) => one.good);
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} is a whole number from 1 on\n\n${usage}`);
  return number;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.stack : String(thrown));
  process.exitCode = 1;
}
