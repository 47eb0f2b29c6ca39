import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../until.ts";
import { root } from "../child.ts";
import { freePort } from "../free-port.ts";

const program = Bun.which("nginx") ?? Bun.which("nginx", { PATH: "/usr/sbin:/usr/local/sbin:/usr/local/bin" });

/** Since nginx 1.27.4 a reload keeps idle connections open; older versions do not know the directive for it. */
export const keepsConnections: boolean = program !== null && Bun.semver.order(versionOf(program), "1.27.4") >= 0;

/** Why tests with nginx are skipped; null if they are not. */
export const noNginx: string | null = program === null ? "no nginx is installed on this machine" : null;

/** Runs nginx with deploy/nginx.conf, in which only ports, hosts and file paths are replaced. */
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

  /** `gateways`: the ports of gateway-1, gateway-2 and so on. The caller must stop it. */
  static async start(gateways: readonly number[]): Promise<NginxProcess> {
    const nginx = new NginxProcess(await freePort(), gateways);
    nginx.#write(null);
    const log = join(nginx.#folder, "error.log");
    const words = ["-p", nginx.#folder, "-c", nginx.#file, "-e", log, "-g", "daemon off;"];
    nginx.#child = spawn(program ?? "", words, { stdio: "ignore" });
    await nginx.#reloaded().catch((thrown: unknown) => {
      throw new Error(`${String(thrown)}\n${readFileSync(log, "utf8").slice(-2_000)}`);
    });
    return nginx;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Takes the gateway with this number (from 1) out of rotation, as deploy/roll.sh does; null puts all back. Resolves once it gets no new calls. */
  async takeOut(gateway: number | null): Promise<void> {
    this.#write(gateway);
    this.#child?.kill("SIGHUP");
    await this.#reloaded();
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      const closed = new Promise((resolve) => child.on("close", resolve));
      child.kill("SIGTERM");
      await closed;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #file(): string {
    return join(this.#folder, "nginx.conf");
  }

  #write(takenOut: number | null): void {
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
      // The master may run as root; then the workers must be able to write to the folder that it created.
      .replace("worker_processes auto;", `${process.getuid?.() === 0 ? "user root;\n" : ""}worker_processes 1;`);
    this.#gateways.forEach((port, at) => {
      const name = `server gateway-${at + 1}:8787 resolve`;
      if (!text.includes(name)) throw new Error(`deploy/nginx.conf does not have ${name}`);
      text = text.replace(name, `server 127.0.0.1:${port}${takenOut === at + 1 ? " down" : ""}`);
    });
    writeFileSync(this.#file, text);
  }

  /** Waits until many new connections in a row are answered by workers with the latest configuration. */
  async #reloaded(): Promise<void> {
    let inRow = 0;
    await until(async () => {
      const ended = this.#child?.exitCode ?? null;
      if (ended !== null) throw new Error(`nginx ended with ${ended}`);
      const generation = await fetch(`${this.url}/generation`, { headers: { connection: "close" } }).then(
        (answer) => answer.text(),
        () => "",
      );
      inRow = generation === String(this.#generation) ? inRow + 1 : 0;
      return inRow >= answersInRow;
    });
  }
}

const answersInRow = 20;

function versionOf(nginx: string): string {
  const { stderr } = Bun.spawnSync([nginx, "-v"]);
  return /nginx\/([\d.]+)/.exec(stderr.toString())?.[1] ?? "0.0.0";
}
