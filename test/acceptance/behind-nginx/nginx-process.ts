import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../until.ts";
import { root } from "../child.ts";
import { freePort } from "../free-port.ts";

const program = Bun.which("nginx") ?? Bun.which("nginx", { PATH: "/usr/sbin:/usr/local/sbin:/usr/local/bin" });

/** Since 1.27.4 a reload leaves kept connections alone. Older versions do not know the directive that says so. */
export const keepsConnections: boolean = program !== null && Bun.semver.order(versionOf(program), "1.27.4") >= 0;

/** Why tests with nginx are skipped; null when they are not. */
export const noNginx: string | null = program === null ? "no nginx is installed on this machine" : null;

/** nginx on deploy/nginx.conf: as it is committed, but for ports, hosts and the folder for its files. */
export class NginxProcess {
  readonly port: number;
  readonly #folder: string;
  readonly #gateways: readonly number[];
  #child: ReturnType<typeof spawn> | null = null;
  #generation = 0;

  private constructor(port: number, gateways: readonly number[]) {
    this.port = port;
    this.#gateways = gateways;
    this.#folder = mkdtempSync(join(tmpdir(), "sluice-nginx-"));
  }

  /** `gateways`: the ports of gateway-1, gateway-2 and so on. To be stopped. */
  static async start(gateways: readonly number[]): Promise<NginxProcess> {
    const nginx = new NginxProcess(await freePort(), gateways);
    nginx.#write(null);
    const log = join(nginx.#folder, "error.log");
    const words = ["-p", nginx.#folder, "-c", nginx.#file, "-e", log, "-g", "daemon off;"];
    nginx.#child = spawn(program ?? "", words, { stdio: "ignore" });
    await nginx.#serves().catch((thrown: unknown) => {
      throw new Error(`${String(thrown)}\n${readFileSync(log, "utf8").slice(-2_000)}`);
    });
    return nginx;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** What deploy/roll.sh does: the gateway of this number (from 1) is left out, or nobody. Resolves when nobody is sent to it any more. */
  async leaveOut(gateway: number | null): Promise<void> {
    this.#write(gateway);
    this.#child?.kill("SIGHUP");
    await this.#serves();
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.on("close", resolve));
      child.kill("SIGTERM");
      await gone;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #file(): string {
    return join(this.#folder, "nginx.conf");
  }

  #write(leftOut: number | null): void {
    this.#generation++;
    let text = readFileSync(join(root, "deploy", "nginx.conf"), "utf8")
      .replaceAll(/^\s*resolver .*$/gm, "")
      .replaceAll(keepsConnections ? "" : /^\s*keepalive_min_timeout .*$/gm, "")
      .replaceAll("/tmp/", `${this.#folder}/`)
      .replaceAll(/\/dev\/std(err|out)/g, join(this.#folder, "std$1.log"))
      .replace(
        "listen 8080;",
        `listen 127.0.0.1:${this.port};\n    location = /generation { return 200 ${this.#generation}; }`,
      )
      // Its workers must be able to write where its master, which may be root, has made a folder.
      .replace("worker_processes auto;", `${process.getuid?.() === 0 ? "user root;\n" : ""}worker_processes 1;`);
    this.#gateways.forEach((port, at) => {
      const name = `server gateway-${at + 1}:8787 resolve`;
      if (!text.includes(name)) throw new Error(`deploy/nginx.conf does not have ${name}`);
      text = text.replace(name, `server 127.0.0.1:${port}${leftOut === at + 1 ? " down" : ""}`);
    });
    writeFileSync(this.#file, text);
  }

  /** Until each of many new connections is answered by a worker with the file that was written last. */
  async #serves(): Promise<void> {
    let inRow = 0;
    await until(async () => {
      const ended = this.#child?.exitCode ?? null;
      if (ended !== null) throw new Error(`nginx ended with ${ended}`);
      const told = await fetch(`${this.url}/generation`, { headers: { connection: "close" } }).then(
        (answer) => answer.text(),
        () => "",
      );
      inRow = told === String(this.#generation) ? inRow + 1 : 0;
      return inRow >= answersInRow;
    });
  }
}

const answersInRow = 20;

function versionOf(nginx: string): string {
  const { stderr } = Bun.spawnSync([nginx, "-v"]);
  return /nginx\/([\d.]+)/.exec(stderr.toString())?.[1] ?? "0.0.0";
}
