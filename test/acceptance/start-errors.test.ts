import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programs } from "../programs.ts";
import { until } from "../until.ts";
import { type Child, runChild, startChild } from "./child.ts";
import { freePort } from "./free-port.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-start-errors-"));
const children: Child[] = [];
const mounts: string[] = [];
afterAll(async () => {
  for (const child of children) {
    child.signal("SIGKILL");
    await child.exited;
  }
  for (const place of mounts) spawnSync("umount", ["-l", place]);
  rmSync(folder, { recursive: true, force: true });
});

const { cli } = programs;

async function environment(dataDir: string, more: Readonly<Record<string, string>> = {}) {
  const port = String(await freePort());
  return { HOME: folder, SLUICE_DATA_DIR: dataDir, SLUICE_PORT: port, SLUICE_DRAIN_GRACE_MS: "0", ...more };
}

/** The one line of a gateway that refuses to start. */
async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
  const { status, stdout, stderr } = await runChild(cli, ["serve"], env);
  expect([status, stdout, stderr.split("\n").length, stderr.includes("    at ")]).toEqual([1, "", 2, false]);
  expect(stderr).toStartWith("sluice: ");
  return stderr.trim();
}

/** Starts it, waits until it is ready, and gives what it printed; it goes on running. */
async function started(env: Readonly<Record<string, string>>): Promise<Child> {
  const child = startChild(cli, ["serve"], env);
  children.push(child);
  await until(() => {
    if (!child.running()) throw new Error(child.output());
    return child.output().includes('"messages"') ? true : null;
  });
  return child;
}

async function stopped(child: Child): Promise<void> {
  child.signal("SIGTERM");
  expect(await child.exited).toBe(0);
}

/** The first key, from the file that the banner names. */
function keyIn(child: Child): string | undefined {
  const file = /Bearer \$\(cat '([^']+)'\)/.exec(child.output())?.[1];
  return file === undefined ? undefined : readFileSync(file, "utf8").trim();
}

async function modelsFor(env: { readonly SLUICE_PORT: string }, key: string | undefined): Promise<readonly string[]> {
  const answer = await fetch(`http://127.0.0.1:${env.SLUICE_PORT}/v1/models`, { headers: { "x-api-key": key ?? "" } });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
}

test("a port that is taken at the first start is named, and costs nobody the first key", async () => {
  const env = await environment(join(folder, "port"));
  const other = Bun.listen({ hostname: "127.0.0.1", port: Number(env.SLUICE_PORT), socket: { data() {} } });
  expect(await refusal(env)).toBe(
    `sluice: Port ${env.SLUICE_PORT} of 127.0.0.1 is already in use; stop what listens there or set SLUICE_PORT.`,
  );
  other.stop(true);
  const child = await started(env);
  expect(await modelsFor(env, keyIn(child))).toContain("demo");
  await stopped(child);
});

test("of two first starts at once on one directory, one runs and shows a key that works; the other says why not", async () => {
  const dataDir = join(folder, "race");
  const environments = [await environment(dataDir), await environment(dataDir)];
  const both = environments.map((env) => startChild(cli, ["serve"], env));
  children.push(...both);
  const loser = await Promise.race(both.map((child) => child.exited.then(() => child)));
  expect(loser.output()).toStartWith(`sluice: Another gateway runs on the data directory ${dataDir} `);
  expect(loser.output().trim().split("\n")).toHaveLength(1);
  const winner = both.find((child) => child !== loser) ?? loser;
  const key = await until(() => keyIn(winner) ?? null);
  const env = environments[both.indexOf(winner)] ?? environments[0];
  expect(await modelsFor(env as { SLUICE_PORT: string }, key)).toContain("demo");
  await stopped(winner);
});

test("a lost key file or database is said, nothing is made in its place, and what is brought back is used", async () => {
  const dataDir = join(folder, "lost");
  const env = await environment(dataDir);
  const first = await started(env);
  const key = keyIn(first);
  await stopped(first);
  const inside = (name: string) => join(dataDir, name);
  const aside = (name: string) => renameSync(inside(name), join(folder, name));
  const back = (name: string) => renameSync(join(folder, name), inside(name));

  aside("master.key");
  expect(await refusal(env)).toStartWith(
    `sluice: ${inside("master.key")} is missing, and the database was made with it`,
  );
  expect((await runChild(cli, ["key", "list"], env)).stderr).toContain("master.key is missing");
  expect(existsSync(inside("master.key"))).toBe(false);
  expect(await refusal({ ...env, SLUICE_MASTER_KEY: "another-master-key-of-forty-characters-00" })).toBe(
    "sluice: This database was made with another master key. Start with that key.",
  );
  back("master.key");

  aside("sluice.db");
  expect(await refusal(env)).toStartWith(`sluice: The database ${inside("sluice.db")} is missing or empty, but beside`);
  expect((await runChild(cli, ["migrate"], env)).stderr).toContain("is missing or empty");
  expect((await runChild(cli, ["doctor"], env)).stdout).toContain("fail  database: The database");
  expect(existsSync(inside("sluice.db"))).toBe(false);
  writeFileSync(inside("sluice.db"), "");
  expect(await refusal(env)).toContain("is missing or empty, but beside it is master.key");
  truncateSync(inside("sluice.db"), 0);
  rmSync(inside("sluice.db"));
  back("sluice.db");

  const again = await started(env);
  expect(await modelsFor(env, key)).toContain("demo");
  await stopped(again);
});

test("a provider's key that is set at a later start is used while there is only the demo, and its absence of effect is said later", async () => {
  const env = await environment(join(folder, "later"));
  await stopped(await started(env));
  const second = await started({ ...env, OPENAI_API_KEY: "sk-later-4f1e8d2c9b7a6053" });
  expect(second.output()).toContain("found: OpenAI (OPENAI_API_KEY)");
  expect(second.output()).toMatch(/Providers +demo, openai/);
  await stopped(second);
  const third = await started({ ...env, ANTHROPIC_API_KEY: "sk-later-4f1e8d2c9b7a6053" });
  expect(third.output()).toMatch(/Providers +demo, openai\n/);
  expect(third.output()).toMatch(/Not used +ANTHROPIC_API_KEY \(/);
  await stopped(third);
});

test("a provider's key is not taken where somebody has made or removed providers or models", async () => {
  const env = await environment(join(folder, "made"));
  const file = join(folder, "made.yaml");
  writeFileSync(
    file,
    "providers: [{ id: mine, kind: demo }]\nmodels: [{ name: own, deployments: [{ provider: mine }] }]\n",
  );
  expect((await runChild(cli, ["apply", file], env)).status).toBe(0);
  const child = await started({ ...env, OPENAI_API_KEY: "sk-later-4f1e8d2c9b7a6053" });
  expect(child.output()).toMatch(/Providers +mine\n/);
  expect(child.output()).toMatch(/Not used +OPENAI_API_KEY \(/);
  await stopped(child);
});

test("a data directory that cannot be one is named with its reason", async () => {
  const file = join(folder, "a-file");
  writeFileSync(file, "");
  expect(await refusal(await environment(file))).toStartWith(`sluice: The data directory ${file} cannot be written (`);
  expect(await refusal(await environment(join(file, "inside")))).toContain("a part of its path is not a directory");
});

const isRoot = process.getuid?.() === 0;
const mayMount = isRoot && process.platform === "linux" && mounted("probe", "size=64k") !== null;
if (!mayMount) console.log("not tried: a full and a read-only file system, because none can be mounted here");

function mounted(name: string, options: string): string | null {
  const place = join(folder, name);
  mkdirSync(place);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", place]).status !== 0) return null;
  mounts.push(place);
  return place;
}

test.skipIf(isRoot)("a directory without the right to write is named (not as root, who may always)", async () => {
  const place = join(folder, "not-ours");
  mkdirSync(place);
  chmodSync(place, 0o500);
  expect(await refusal(await environment(place))).toContain("permission denied");
});

test.skipIf(!mayMount)("a read-only file system is named, empty or with a database on it", async () => {
  const place = mounted("read-only", "size=16m") ?? "";
  const env = await environment(join(place, "data"));
  await stopped(await started(env));
  expect(spawnSync("mount", ["-o", "remount,ro", place]).status).toBe(0);
  const reason = "cannot be written (the file system is read-only)";
  expect(await refusal(env)).toContain(reason);
  expect(await refusal(await environment(join(place, "new")))).toContain(reason);
});

/** With so much more room from start to start; each comes a little further. DISK_STEP_KIB=4 tries every page. */
const roomStepKibibytes = Number(process.env["DISK_STEP_KIB"] ?? "80");

test.skipIf(!mayMount)(
  "a first start on a full disk says so, however far it comes, and the next one with room is a whole first start",
  async () => {
    const place = mounted("full", "size=40k") ?? "";
    const env = await environment(place);
    let key: string | undefined;
    let refused = 0;
    for (let kibibytes = 40; key === undefined && kibibytes < 4_096; kibibytes += roomStepKibibytes) {
      expect(spawnSync("mount", ["-o", `remount,size=${kibibytes}k`, place]).status).toBe(0);
      const child = startChild(cli, ["serve"], env);
      children.push(child);
      await until(() => (!child.running() || keyIn(child) !== undefined ? true : null));
      key = keyIn(child);
      if (key === undefined) {
        expect(await child.exited).toBe(1);
        // A part of the gateway that had begun may have logged a line of its own before.
        const said = child
          .output()
          .split("\n")
          .filter((line) => line !== "" && !line.startsWith('{"level"'));
        expect(said).toEqual([expect.stringMatching(/^sluice: .*(disk is full|whether it is full)/)]);
        refused += 1;
      } else {
        await stopped(child);
      }
    }
    expect(refused).toBeGreaterThan(5);
    expect(spawnSync("mount", ["-o", "remount,size=32m", place]).status).toBe(0);
    const child = await started(env);
    expect(await modelsFor(env, key)).toContain("demo");
    await stopped(child);
  },
);

test("a start with a config file that is not valid names every problem of it, a line each", async () => {
  const config = join(folder, "wrong.yaml");
  writeFileSync(
    config,
    "providers: [{ id: main, kind: opena }]\nmodels: [{ name: m, deployments: [{ provider: nobody }], colour: red }]\n",
  );
  const dataDir = join(folder, "wrong-config");
  const { status, stdout, stderr } = await runChild(cli, ["serve"], {
    ...(await environment(dataDir)),
    SLUICE_CONFIG: config,
  });
  const lines = stderr.trim().split("\n");
  expect([status, stdout, stderr.includes("    at ")]).toEqual([1, "", false]);
  for (const word of ["opena", "nobody", "colour"]) expect(lines.filter((line) => line.includes(word))).toHaveLength(1);
  expect(lines.at(-1)).toStartWith("sluice: ");
});

test("a config file that is refused ends a first start; later the configuration before it stays in force", async () => {
  const config = join(folder, "refused.yaml");
  const env = await environment(join(folder, "refused"), { SLUICE_CONFIG: config });
  const key = "sk-sluice-of-the-file-000000000000";
  const good = [
    "providers: [{ id: demo, kind: demo }]",
    "models: [{ name: told, deployments: [{ provider: demo }] }]",
    `workspaces: [{ slug: acme, keys: [{ name: ci, group: default, secret: ${key} }], groups: [{ name: default }] }]`,
  ].join("\n");
  const bad = "models: [{ name: told, deployments: [] }]";
  writeFileSync(config, bad);
  expect(await refusal(env)).toContain("models[0].deployments");
  writeFileSync(config, good);
  await stopped(await started(env));
  // The second would remove too much of what the file owns.
  for (const [text, problem] of [
    [bad, "models[0].deployments"],
    ["models: []\nworkspaces: []\nproviders: []", "no longer declares"],
  ] as const) {
    writeFileSync(config, text);
    const child = await started(env);
    expect(child.output()).toContain(`${config} (REFUSED; the previous configuration is used)`);
    expect(child.output()).toContain(problem);
    expect(await modelsFor(env, key)).toContain("told");
    const at = `http://127.0.0.1:${env.SLUICE_PORT}`;
    expect(await (await fetch(`${at}/readyz`)).text()).toContain("the config file was refused");
    const metrics = await (await fetch(`${at}/metrics`)).text();
    expect(metrics).toContain("sluice_config_file_valid 0");
    expect(metrics).toContain("sluice_config_file_last_good_timestamp_seconds 0");
    await stopped(child);
  }
});
