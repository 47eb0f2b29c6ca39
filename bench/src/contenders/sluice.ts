import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { answersChat } from "../answers-chat.ts";
import { benchModel } from "../chat-request.ts";
import { type Child, startChild } from "../child.ts";
import type { Contender } from "../contender.ts";
import { until } from "../deadline.ts";
import { freePort, type Run, rootDirectory } from "../run.ts";

/**
 * Sluice as it would serve: one process, key check, model grant, rate limits, budgets on key and workspace, and a
 * ledger that is synced to disk. The limits are high enough never to refuse.
 */
export interface SluiceOptions {
  /** A data directory that was used before; left out: an empty one, as at the very first start. */
  readonly dataDirectory?: string;
  /** Where a processor profile is left when it stops. */
  readonly profileDirectory?: string;
}

export interface Sluice extends Contender {
  readonly pid: number;
  readonly dataDirectory: string;
  /** From the start of the process to its first good answer. */
  readonly firstAnswerMs: number;
}

const benchKey = "sk-bench-0123456789abcdefghijklmnop";
const startMs = 30_000;

export async function startSluice(run: Run, options: SluiceOptions = {}): Promise<Sluice> {
  const port = freePort();
  const dataDirectory = options.dataDirectory ?? join(run.directory, `data-${port}`);
  mkdirSync(dataDirectory, { recursive: true });
  const config = join(run.directory, `sluice-${port}.json`);
  const log = join(run.directory, `sluice-${port}.log`);
  await Bun.write(config, JSON.stringify(governedConfig(run.upstreamPort), null, 2));
  const startedAt = performance.now();
  const child = startChild({
    command: [...program(run, options), "serve"],
    cores: run.cores.contender,
    env: {
      SLUICE_HOST: "127.0.0.1",
      SLUICE_PORT: String(port),
      SLUICE_DATA_DIR: dataDirectory,
      SLUICE_CONFIG: config,
      SLUICE_WORKERS: "1",
      SLUICE_LOG_LEVEL: "warn",
      SLUICE_LOG_FORMAT: "json",
      BUN_CONFIG_MAX_HTTP_REQUESTS: "20000",
    },
    log,
  });
  await firstAnswer(child, port, log);
  return {
    name: "sluice",
    port,
    key: benchKey,
    pid: child.pid,
    dataDirectory,
    log,
    firstAnswerMs: performance.now() - startedAt,
    stop: () => child.stop(15_000),
  };
}

async function firstAnswer(child: Child, port: number, log: string): Promise<void> {
  let status: number | null = null;
  void child.exited.then((code) => {
    status = code;
  });
  const answered = async () => status !== null || (await answersChat(port, benchKey));
  await until(answered, startMs, "Sluice's first answer", 5).catch(async (error) => {
    await child.stop(500);
    throw error;
  });
  if (status !== null)
    throw new Error(`Sluice ended at its start with status ${status}: ${(await Bun.file(log).text()).slice(-2_000)}`);
}

function program(run: Run, { profileDirectory }: SluiceOptions): string[] {
  if (run.options.gateway !== null) return [run.options.gateway];
  const profile =
    profileDirectory === undefined ? [] : ["--cpu-prof", "--cpu-prof-md", `--cpu-prof-dir=${profileDirectory}`];
  return [process.execPath, ...profile, join(rootDirectory, "gateway/src/cli/cli.ts")];
}

function governedConfig(upstreamPort: number): unknown {
  const rates = { rpm: 1_000_000_000, tpm: 1_000_000_000_000 };
  return {
    providers: [
      {
        id: "bench",
        kind: "openai-compatible",
        base_url: `http://127.0.0.1:${upstreamPort}/v1`,
        api_key: "sk-upstream",
        allow_private_network: true,
      },
    ],
    models: [
      {
        name: benchModel,
        type: "chat",
        deployments: [{ provider: "bench", upstream_model: "upstream-model-name" }],
        price: { input: 0.01, cache_read: 0.001, output: 0.08 },
      },
    ],
    workspaces: [
      {
        slug: "bench",
        budget: { usd: 9_000_000, period: "month" },
        groups: [{ name: "default", models: ["bench-*"], limits: { ...rates, concurrency: 100_000 } }],
        keys: [
          {
            name: "load",
            group: "default",
            secret: benchKey,
            limits: rates,
            budget: { usd: 9_000_000, period: "day" },
          },
        ],
      },
    ],
    settings: { ledger: { durability: "disk" } },
  };
}
