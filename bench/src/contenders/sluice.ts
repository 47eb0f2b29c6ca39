import { mkdirSync } from "node:fs";
import { join } from "node:path";
import runtimeEnvironment from "../../../scripts/runtime-environment.json" with { type: "json" };
import { answersChat } from "../answers-chat.ts";
import { type Child, startChild } from "../child.ts";
import type { Contender } from "../contender.ts";
import { until } from "../deadline.ts";
import { gatewayProgram } from "../gateway-program.ts";
import { freePort, type Run } from "../run.ts";
import { benchKey, type CatalogSize, sluiceConfig } from "./sluice-config.ts";

/**
 * Sluice in a production setup: one process, key check, model access, rate limits, budgets of key and workspace, and a ledger that is
 * synced to disk. The limits are high enough never to refuse a call.
 */
export interface SluiceOptions {
  /** A used data directory. Left out: an empty one, as at the first start. */
  readonly dataDirectory?: string;
  /** Directory for a CPU profile, written when it stops. */
  readonly profileDirectory?: string;
  /** Additional providers and models. Left out: none. */
  readonly catalog?: CatalogSize;
  /** Only check the key: no limits and budgets, and a ledger without sync. */
  readonly bare?: boolean;
  /** Include a model with a failing first account. */
  readonly faulty?: boolean;
  /** Include a key with guardrails. */
  readonly guarded?: boolean;
  /** Concurrency limit of the group. Left out: none. */
  readonly concurrency?: number;
  /** Cores to pin it to. Empty: not pinned. Left out: the contender's core. */
  readonly cores?: readonly number[];
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Sluice extends Contender<"sluice"> {
  readonly pid: number;
  readonly dataDirectory: string;
  /** From the start of the process to its first successful response. */
  readonly firstAnswerMs: number;
}

const startMs = 30_000;

export async function startSluice(run: Run, options: SluiceOptions = {}): Promise<Sluice> {
  const port = freePort();
  const dataDirectory = options.dataDirectory ?? join(run.directory, `data-${port}`);
  mkdirSync(dataDirectory, { recursive: true });
  const config = join(run.directory, `sluice-${port}.json`);
  const log = join(run.directory, `sluice-${port}.log`);
  await Bun.write(
    config,
    JSON.stringify(
      sluiceConfig(run.upstreamPort, {
        catalog: options.catalog ?? { providers: 0, models: 0, sharedProviders: 0 },
        concurrency: options.concurrency ?? 100_000,
        bare: options.bare ?? false,
        faulty: options.faulty ?? false,
        guarded: options.guarded ?? false,
      }),
      null,
      2,
    ),
  );
  const command = [...program(run, options), "serve"];
  const startedAt = performance.now();
  const child = startChild({
    command,
    cores: options.cores ?? run.cores.contender,
    env: {
      SLUICE_HOST: "127.0.0.1",
      SLUICE_PORT: String(port),
      SLUICE_DATA_DIR: dataDirectory,
      SLUICE_CONFIG: config,
      SLUICE_WORKERS: "1",
      SLUICE_LOG_LEVEL: "warn",
      SLUICE_DRAIN_GRACE_MS: "0",
      SLUICE_LOG_FORMAT: "json",
      ...runtimeEnvironment,
      ...options.env,
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
    throw new Error(`Sluice exited at startup with status ${status}: ${(await Bun.file(log).text()).slice(-2_000)}`);
}

function program(run: Run, { profileDirectory }: SluiceOptions): string[] {
  if (run.options.gateway !== null) return [run.options.gateway];
  const profile =
    profileDirectory === undefined ? [] : ["--cpu-prof", "--cpu-prof-md", `--cpu-prof-dir=${profileDirectory}`];
  return [process.execPath, ...profile, gatewayProgram()];
}
