import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { until } from "./until.ts";

/** The server program; null if none is installed. */
const redisProgram: string | null = findProgram(["redis-server", "valkey-server"]);

/** Why tests that need a server are skipped; null if they are not. */
export const noRedis: string | null =
  redisProgram === null ? "no redis-server or valkey-server is installed on this machine" : null;

/** A Redis server for one test, on a free loopback port. All its files are in a temporary folder. */
export class RedisServer {
  readonly port: number;
  readonly #folder: string;
  readonly #args: readonly string[];
  #process: ChildProcess | null = null;

  private constructor(port: number, args: readonly string[]) {
    this.port = port;
    this.#args = args;
    this.#folder = mkdtempSync(join(tmpdir(), "sluice-redis-"));
  }

  /** A sentinel that watches the server on this port and fails over three seconds after it disappears. A shorter time would be too short for a busy machine. */
  static sentinel(name: string, port: number, quorum: number): Promise<RedisServer> {
    const words = [
      ["monitor", name, "127.0.0.1", String(port), String(quorum)],
      ["down-after-milliseconds", name, "3000"],
      ["failover-timeout", name, "10000"],
    ];
    return RedisServer.start("--sentinel", ...words.map((line) => `sentinel ${line.join(" ")}`));
  }

  /** A cluster node that replaces its master about three seconds after that disappears. */
  static node(): Promise<RedisServer> {
    const settings = [
      ["cluster-enabled", "yes"],
      ["cluster-node-timeout", "3000"],
      ["cluster-replica-validity-factor", "0"],
      ["cluster-announce-ip", "127.0.0.1"],
    ];
    return RedisServer.start(...settings.flatMap(([name = "", value = ""]) => [`--${name}`, value]));
  }

  /**
   * `args`: more settings in command line form; `{port}` is replaced by the port. After `--sentinel`, each is a line of the
   * sentinel's configuration file. The caller must stop the server.
   */
  static async start(...args: string[]): Promise<RedisServer> {
    // Another program may take the port before the server does.
    for (let turn = 0; turn < 5; turn++) {
      const server = new RedisServer(await freePort(), args);
      if (await server.run()) return server;
      await server.stop();
    }
    throw new Error("the Redis server did not start");
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts the server, again after `end`, on the same port and with the data it stored. Resolves to false if it exits at once. */
  async run(): Promise<boolean> {
    if (redisProgram === null) throw new Error(noRedis ?? "");
    const settings = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.#folder];
    const log = ["--daemonize", "no", "--logfile", "server.log"];
    const further = this.#args.map((arg) => arg.replace("{port}", String(this.port)));
    const words =
      further[0] === "--sentinel"
        ? [this.#sentinelFile(further.slice(1)), "--sentinel", ...settings, ...log]
        : [...settings, "--save", "", "--appendonly", "no", ...log, ...further];
    const child = spawn(redisProgram, words, { stdio: "ignore" });
    this.#process = child;
    let ended = false;
    child.on("close", () => (ended = true));
    child.on("error", () => (ended = true));
    await until(async () => ended || (await listens(this.port)));
    return !ended;
  }

  /** The sentinel also stores its state in this file. */
  #sentinelFile(lines: readonly string[]): string {
    const file = join(this.#folder, "sentinel.conf");
    if (!existsSync(file)) writeFileSync(file, `${lines.join("\n")}\n`);
    return file;
  }

  /** Stops the process without ending it: requests are accepted and answered after `resume`. */
  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  get isRunning(): boolean {
    return this.#process !== null;
  }

  /** Kills the server. */
  async end(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const closed = new Promise((resolve) => child.on("close", resolve));
    child.kill("SIGKILL");
    await closed;
  }

  async stop(): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function findProgram(names: readonly string[]): string | null {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(address !== null && typeof address === "object" ? address.port : 0);
    });
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listens(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}
