import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import runtimeEnvironment from "../../scripts/runtime-environment.json" with { type: "json" };
import { bareEnvironment } from "../../test/bare-environment.ts";
import { commandOf, programs } from "../../test/programs.ts";
import { patienceMs } from "../../test/until.ts";

const root = join(import.meta.dir, "..", "..");

export interface StartedGateway {
  readonly url: string;
  /** With the setup token in its fragment, unless an administrator was passed. */
  readonly consoleLink: string;
  /** Empty with a config file that has models: then no first key is created. */
  readonly key: string;
  readonly dataDir: string;
  /** Stops the process; `run` happens while it is down; then starts it again at the same address. */
  restart(run: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

export interface GatewayOptions {
  /** Creates the first administrator without the setup link. */
  readonly administrator?: { readonly email: string; readonly password: string };
  /** Text of the config file. */
  readonly config?: string;
}

/** Starts a gateway in an empty data directory, like a new user. Addresses and keys are read from its output. */
export async function startGateway(options: GatewayOptions = {}): Promise<StartedGateway> {
  const { administrator, config } = options;
  const dataDir = await mkdtemp(join(tmpdir(), "sluice-console-"));
  const configFile = join(dataDir, "sluice.yaml");
  if (config !== undefined) await Bun.write(configFile, config);
  const start = (port: string) => startProcess(port, { dataDir, configFile, options });
  let { gateway, printed } = await start("0");
  const find = (pattern: RegExp) => {
    const found = pattern.exec(printed)?.[1];
    if (found === undefined) throw new Error(`The gateway did not print ${pattern}. It printed:\n${printed}`);
    return found;
  };
  const readFile = async (name: string) => (await Bun.file(join(dataDir, name)).text()).trim();
  const url = find(/ready on (http\S+)/);
  return {
    url,
    consoleLink: administrator === undefined ? await readFile("setup-link") : find(/Console\s+(http\S+)/),
    key: config === undefined ? await readFile("first-key") : "",
    dataDir,
    restart: async (run) => {
      gateway.kill("SIGTERM");
      await gateway.exited;
      await run();
      ({ gateway, printed } = await start(new URL(url).port));
    },
    stop: async () => {
      gateway.kill("SIGTERM");
      await gateway.exited;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

interface ProcessPlace {
  readonly dataDir: string;
  readonly configFile: string;
  readonly options: GatewayOptions;
}

/** Resolves when the process has printed its addresses. */
async function startProcess(port: string, { dataDir, configFile, options: { administrator, config } }: ProcessPlace) {
  const gateway = Bun.spawn([...commandOf(programs.cli), "serve"], {
    cwd: root,
    env: {
      // Without these, the executable re-executes itself to set them.
      ...runtimeEnvironment,
      ...bareEnvironment(),
      SLUICE_PORT: port,
      SLUICE_DATA_DIR: dataDir,
      // Upstream failures are expected here.
      SLUICE_LOG_LEVEL: "error",
      SLUICE_DRAIN_GRACE_MS: "0",
      ...(config === undefined ? {} : { SLUICE_CONFIG: configFile }),
      ...(administrator === undefined
        ? {}
        : { SLUICE_ADMIN_EMAIL: administrator.email, SLUICE_ADMIN_PASSWORD: administrator.password }),
    },
    stdout: "pipe",
    stderr: "inherit",
  });
  const timer = setTimeout(() => gateway.kill(), patienceMs);
  let printed = "";
  for await (const piece of gateway.stdout.pipeThrough(new TextDecoderStream())) {
    printed += piece;
    if (printed.includes('"messages"')) break;
  }
  clearTimeout(timer);
  return { gateway, printed };
}
