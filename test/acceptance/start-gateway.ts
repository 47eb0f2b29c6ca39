import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigFile } from "@sluice/contract";
import runtimeEnvironment from "../../scripts/runtime-environment.json" with { type: "json" };
import { bareEnvironment } from "../bare-environment.ts";
import { programs } from "../programs.ts";
import { patienceMs, until } from "../until.ts";
import { type Child, type Finished, runChild, startChild } from "./child.ts";
import { freePort } from "./free-port.ts";

/** The gateway as an operator has it: a process, a data directory, a config file, an address. Nothing of its inside. */
export interface Gateway {
  readonly port: number;
  readonly url: string;
  readonly dataDir: string;
  pid(): number;
  /** What it printed since it was last started. */
  output(): string;
  /** The same of all its processes, one after the other. */
  history(): string;
  /** Runs a `sluice` command on the same data directory. */
  cli(...args: readonly string[]): Promise<Finished>;
  /** Replaces the config file as editors and orchestrators do: by a rename. */
  writeConfig(config: ConfigFile | string): void;
  reload(): void;
  /** SIGTERM; resolves with the exit status. */
  stop(): Promise<number>;
  /** SIGKILL, in the middle of whatever it does. */
  kill9(): Promise<void>;
  /** Starts it again on the same data, and waits until it is ready. */
  restart(): Promise<void>;
  /** Stops it if it runs and removes everything. */
  remove(): Promise<void>;
}

export interface GatewayOptions {
  readonly config: ConfigFile;
  readonly env?: Readonly<Record<string, string>>;
  /** It is told under which address it is reached, so that vendors can call back. */
  readonly knowsItsAddress?: boolean;
  /** Where it stands; see programs.ts. An executable is a program too. */
  readonly program?: string;
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { program = programs.cli } = options;
  const folder = mkdtempSync(join(tmpdir(), "sluice-acceptance-"));
  const dataDir = join(folder, "data");
  const configFile = join(folder, "sluice.json");
  const port = await freePort();
  const url = `${options.env?.["SLUICE_TLS_CERT_FILE"] === undefined ? "http" : "https"}://127.0.0.1:${port}`;
  const env = {
    // The runtime reads these only at its start.
    ...runtimeEnvironment,
    ...bareEnvironment(),
    HOME: folder,
    SLUICE_PORT: String(port),
    SLUICE_DATA_DIR: dataDir,
    SLUICE_CONFIG: configFile,
    // Tests take out of the file whatever they like.
    SLUICE_CONFIG_PRUNE: "allow",
    SLUICE_LOG_FORMAT: "json",
    SLUICE_DRAIN_GRACE_MS: "0",
    ...(options.knowsItsAddress === true ? { SLUICE_PUBLIC_URL: url } : {}),
    ...options.env,
  };
  let child: Child;
  /** What each earlier process printed. */
  const printed: string[] = [];

  function writeConfig(config: ConfigFile | string): void {
    const text = typeof config === "string" ? config : JSON.stringify(withoutPrices(config), null, 2);
    writeFileSync(`${configFile}.new`, text);
    renameSync(`${configFile}.new`, configFile);
  }

  async function start(): Promise<void> {
    child = startChild(program, ["serve"], env);
    await until(async () => {
      if (!child.running()) throw new Error(`the gateway ended:\n${child.output()}`);
      return (await isReady(url)) ? true : null;
    }).catch((reason: unknown) => {
      child.signal("SIGKILL");
      throw new Error(`${String(reason)}\n${child.output()}`);
    });
  }

  async function end(signal: "SIGTERM" | "SIGKILL"): Promise<number> {
    child.signal(signal);
    return child.exited;
  }

  writeConfig(options.config);
  await start();
  return {
    port,
    url,
    dataDir,
    pid: () => child.pid,
    output: () => child.output(),
    history: () => [...printed, child.output()].join("\n"),
    cli: (...args) => runChild(program, args, env),
    writeConfig,
    reload: () => child.signal("SIGHUP"),
    stop: () => end("SIGTERM"),
    kill9: async () => void (await end("SIGKILL")),
    async restart() {
      printed.push(child.output());
      await start();
    },
    async remove() {
      if (child.running()) await end("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    // Whose certificate it is, is for the tests that are about it.
    const options = { signal: AbortSignal.timeout(patienceMs), tls: { rejectUnauthorized: false } };
    return (await fetch(`${url}/readyz`, options)).ok;
  } catch {
    return false;
  }
}

/** Most of these tests are about something else than prices, and a model without one is not served unless somebody says so. */
function withoutPrices(config: ConfigFile): ConfigFile {
  return { ...config, settings: { unpriced: "allow", ...config.settings } };
}
