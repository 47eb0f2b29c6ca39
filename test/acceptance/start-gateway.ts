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

/** The gateway as operators see it: a process, a data directory, a config file and an address. */
export interface Gateway {
  readonly port: number;
  readonly url: string;
  readonly dataDir: string;
  pid(): number;
  /** The output since the last start. */
  output(): string;
  /** The output of all its processes, in order. */
  history(): string;
  /** Runs a `sluice` command with the same data directory. */
  cli(...args: readonly string[]): Promise<Finished>;
  /** Replaces the config file with a rename, as editors and orchestrators do. */
  writeConfig(config: ConfigFile | string): void;
  reload(): void;
  /** Sends SIGTERM. Resolves to the exit status. */
  stop(): Promise<number>;
  /** Sends SIGKILL. */
  kill9(): Promise<void>;
  /** Starts it again with the same data, and waits until it is ready. */
  restart(): Promise<void>;
  /** Kills it if it is running, and removes its files. */
  remove(): Promise<void>;
}

export interface GatewayOptions {
  readonly config: ConfigFile;
  readonly env?: Readonly<Record<string, string>>;
  /** Sets its address as its public URL, so that vendors can call back. */
  readonly setPublicUrl?: boolean;
  /** A source file or an executable; default: see programs.ts. */
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
    // The runtime reads these only when it starts.
    ...runtimeEnvironment,
    ...bareEnvironment(),
    HOME: folder,
    SLUICE_PORT: String(port),
    SLUICE_DATA_DIR: dataDir,
    SLUICE_CONFIG: configFile,
    // Tests may remove anything from the config file.
    SLUICE_CONFIG_PRUNE: "allow",
    SLUICE_LOG_FORMAT: "json",
    SLUICE_DRAIN_GRACE_MS: "0",
    ...(options.setPublicUrl === true ? { SLUICE_PUBLIC_URL: url } : {}),
    ...options.env,
  };
  let child: Child;
  /** The output of earlier processes. */
  const printed: string[] = [];

  function writeConfig(config: ConfigFile | string): void {
    const text = typeof config === "string" ? config : JSON.stringify(allowUnpriced(config), null, 2);
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
    // Only the TLS tests check the certificate.
    const options = { signal: AbortSignal.timeout(patienceMs), tls: { rejectUnauthorized: false } };
    return (await fetch(`${url}/readyz`, options)).ok;
  } catch {
    return false;
  }
}

/** Most tests are not about prices, but models without a price are refused by default. */
function allowUnpriced(config: ConfigFile): ConfigFile {
  return { ...config, settings: { unpriced: "allow", ...config.settings } };
}
