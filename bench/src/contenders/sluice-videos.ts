import { mkdirSync } from "node:fs";
import { join } from "node:path";
import runtimeEnvironment from "../../../scripts/runtime-environment.json" with { type: "json" };
import { startChild } from "../child.ts";
import { until } from "../deadline.ts";
import { gatewayProgram } from "../gateway-program.ts";
import { freePort } from "../run.ts";

/** Sluice with video models: one for each account of the same vendor, the simulator. */
export interface VideoSluice {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface VideoSluiceOptions {
  /** Directory for data (may be reused), configuration and log. */
  readonly directory: string;
  readonly simulatorPort: number;
  readonly accounts: number;
  /** Copy finished videos into the gateway's blob store. */
  readonly copyResults?: boolean;
}

export const videoKey = "sk-bench-videos-0123456789abcdef";
export const videoModel = (account: number): string => `bench-clip-${account}`;

const startMs = 30_000;

export async function startVideoSluice(options: VideoSluiceOptions): Promise<VideoSluice> {
  const { directory } = options;
  const port = freePort();
  const dataDirectory = join(directory, "data");
  mkdirSync(dataDirectory, { recursive: true });
  const config = join(directory, "sluice.json");
  await Bun.write(config, JSON.stringify(configOf(options)));
  const log = join(directory, "sluice.log");
  const child = startChild({
    command: [process.execPath, gatewayProgram(), "serve"],
    cores: [],
    env: {
      SLUICE_HOST: "127.0.0.1",
      SLUICE_PORT: String(port),
      SLUICE_DATA_DIR: dataDirectory,
      SLUICE_CONFIG: config,
      SLUICE_LOG_LEVEL: "warn",
      SLUICE_DRAIN_GRACE_MS: "0",
      SLUICE_LOG_FORMAT: "json",
      ...runtimeEnvironment,
    },
    log,
  });
  const url = `http://127.0.0.1:${port}`;
  const ready = async (): Promise<boolean> => {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    return answer?.ok === true;
  };
  await until(ready, startMs, "Sluice's start", 10).catch(async (error: unknown) => {
    await child.stop(500);
    throw error;
  });
  return { url, pid: child.pid, stop: () => child.stop(15_000) };
}

function configOf({ simulatorPort, accounts, copyResults = false }: VideoSluiceOptions): unknown {
  const all = Array.from({ length: accounts }, (_, account) => account);
  return {
    providers: all.map((account) => ({
      id: `bench-${account}`,
      kind: "ark",
      base_url: `http://127.0.0.1:${simulatorPort}/v1`,
      api_key: `sk-upstream-${account}`,
      allow_private_network: true,
    })),
    models: all.map((account) => ({
      name: videoModel(account),
      type: "video",
      deployments: [{ provider: `bench-${account}`, upstream_model: "doubao-seedance-2-0-260128" }],
      price: { output: 6 },
    })),
    workspaces: [
      {
        slug: "bench",
        keys: [
          {
            name: "load",
            secret: videoKey,
            limits: { rpm: 1_000_000_000 },
            budget: { usd: 9_000_000, period: "month" },
          },
        ],
      },
    ],
    settings: { video: { copy_results: copyResults } },
  };
}
