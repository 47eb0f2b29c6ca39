import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { canFillDisks } from "../../scripts/full-disk.mjs";
import { startPostgres } from "../../scripts/postgres.mjs";
import { publicHost } from "../acceptance/public-host.ts";
import { startReplicas } from "../acceptance/replicas.ts";
import { noRedis } from "../redis-server.ts";
import { startBucket } from "./bucket.ts";
import type { Finding } from "./proof.ts";
import { table } from "./proof.ts";
import { proveConfig } from "./prove-config.ts";
import { proveKills } from "./prove-kills.ts";
import { proveLimits } from "./prove-limits.ts";
import { proveMoney } from "./prove-money.ts";
import { proveVideos } from "./prove-videos.ts";

const usage = `npm run prove -- [--calls 10000] [--seed N] [--clients 200] [--limit 1000] [--minutes 40] [--videos 300] [--only limits,money,kills,videos]

Three replicas of the gateway on a real PostgreSQL and Redis of its own, about fifteen minutes on two cores. Linux.

  --calls     of the kill loop, begun to be answered with success
  --videos    that are ordered while the same befalls
  --seed      of everything that is left to chance; a run prints it
  --clients   of the limits and of the budget, at the same time
  --limit     requests a minute that must be admitted exactly
  --minutes   the most that each of the two kill loops may take
  --only      some of it
`;

const parts: readonly string[] = ["limits", "money", "kills", "videos"];

/** The most that one run of the budget's calls can cost is about this for each call that it is to admit. */
const usdPerCall = 0.000_015;

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      calls: { type: "string", default: "10000" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      clients: { type: "string", default: "200" },
      limit: { type: "string", default: "1000" },
      minutes: { type: "string", default: "40" },
      videos: { type: "string", default: "300" },
      only: { type: "string", default: parts.join() },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return true;
  }
  const [calls, seed, clients, rpm, minutes, orders] = [
    wholeNumber("calls", values.calls),
    wholeNumber("seed", values.seed),
    wholeNumber("clients", values.clients),
    wholeNumber("limit", values.limit),
    wholeNumber("minutes", values.minutes),
    wholeNumber("videos", values.videos),
  ];
  const only = new Set(values.only.split(","));
  for (const one of only) {
    if (!parts.includes(one)) throw new Error(`there is no part ${one}\n\n${usage}`);
  }
  if (noRedis !== null) throw new Error(noRedis);
  if (!canFillDisks()) throw new Error("full disks are made with prlimit (util-linux) on Linux, which is not here");
  console.log(`seed ${seed}`);
  const folder = mkdtempSync(join(tmpdir(), "sluice-prove-"));
  const truthFile = join(folder, "truth.jsonl");
  const postgres = await startPostgres({ keepsCommits: true });
  const bucket = await startBucket();
  try {
    if (postgres.url === null) throw new Error(postgres.why ?? "there is no PostgreSQL");
    const budgetUsd = rpm * usdPerCall;
    const replicas = await startReplicas({
      postgresUrl: postgres.url,
      count: 3,
      config: (simulatorUrl) => proveConfig(simulatorUrl, rpm, budgetUsd),
      simulator: { truthFile },
      knowTheirAddresses: true,
      env: {
        ...bucket.variables,
        PUBLIC_HOST: publicHost,
        BUN_OPTIONS: `--preload=${join(import.meta.dir, "..", "acceptance", "public-host.ts")}`,
      },
    });
    try {
      const findings: Finding[] = [];
      const add = (more: readonly Finding[]): void => {
        findings.push(...more);
        console.log(table(more));
      };
      if (only.has("limits")) add(await proveLimits(replicas, { clients, rpm }));
      if (only.has("money")) add(await proveMoney(replicas, { clients, budgetUsd, seed }));
      if (only.has("kills")) add(await proveKills({ replicas, postgres, truthFile, calls, seed, minutes }));
      if (only.has("videos")) add(await proveVideos({ replicas, postgres, bucket, truthFile, orders, seed, minutes }));
      const good = findings.every((one) => one.good);
      console.log(`\n${table(findings)}\n\n${good ? "proved" : "NOT PROVED"} (seed ${seed})`);
      return good;
    } finally {
      await replicas.close();
    }
  } finally {
    await bucket.stop();
    if (!(await postgres.stop())) console.error("PostgreSQL has left something behind");
    rmSync(folder, { recursive: true, force: true });
  }
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
