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
  for (const path of mounts) spawnSync("umount", ["-l", path]);
  rmSync(folder, { recursive: true, force: true });
});

const { cli } = programs;

async function environment(dataDir: string, more: Readonly<Record<string, string>> = {}) {
  const port = String(await freePort());
  return { HOME: folder, SLUICE_DATA_DIR: dataDir, SLUICE_PORT: port, SLUICE_DRAIN_GRACE_MS: "0", ...more };
}

/** The single line of a gateway that refuses to start. */
async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
  const { status, stdout, stderr } = await runChild(cli, ["serve"], env);
  expect([status, stdout, stderr.split("\n").length, stderr.includes("    at ")]).toEqual([1, "", 2, false]);
  expect(stderr).toStartWith("sluice: ");
  return stderr.trim();
}

/** Starts the gateway and waits until it is ready. It keeps running. */
async function start(env: Readonly<Record<string, string>>): Promise<Child> {
  const child = startChild(cli, ["serve"], env);
  children.push(child);
  await until(() => {
    if (!child.running()) throw new Error(child.output());
    return child.output().includes('"messages"') ? true : null;
  });
  return child;
}

async function stop(child: Child): Promise<void> {
  child.signal("SIGTERM");
  expect(await child.exited).toBe(0);
}

/** The first key, from the file that the banner names, if it exists. */
function keyIn(child: Child): string | undefined {
  const file = /Bearer \$\(cat '([^']+)'\)/.exec(child.output())?.[1];
  return file === undefined ? undefined : readFileSync(file, "utf8").trim();
}

async function modelsFor(env: { readonly SLUICE_PORT: string }, key: string | undefined): Promise<readonly string[]> {
  const answer = await fetch(`http://127.0.0.1:${env.SLUICE_PORT}/v1/models`, { headers: { "x-api-key": key ?? "" } });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
}

test("a first start on a port in use names the port, and the first key is not lost", async () => {
  const env = await environment(join(folder, "port"));
  const other = Bun.listen({ hostname: "127.0.0.1", port: Number(env.SLUICE_PORT), socket: { data() {} } });
  expect(await refusal(env)).toBe(
    `sluice: Port ${env.SLUICE_PORT} of 127.0.0.1 is already in use; stop what listens there or set SLUICE_PORT.`,
  );
  other.stop(true);
  const child = await start(env);
  expect(await modelsFor(env, keyIn(child))).toContain("demo");
  await stop(child);
});

test("of two simultaneous first starts on one directory, one runs with a working key; the other prints why not", async () => {
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
  await stop(winner);
});

test("a lost key file or database is reported and not created again; once restored, it is used", async () => {
  const dataDir = join(folder, "lost");
  const env = await environment(dataDir);
  const first = await start(env);
  const key = keyIn(first);
  await stop(first);
  const inside = (name: string) => join(dataDir, name);
  const moveAway = (name: string) => renameSync(inside(name), join(folder, name));
  const moveBack = (name: string) => renameSync(join(folder, name), inside(name));

  moveAway("master.key");
  expect(await refusal(env)).toStartWith(
    `sluice: ${inside("master.key")} is missing, and the database was made with it`,
  );
  expect((await runChild(cli, ["key", "list"], env)).stderr).toContain("master.key is missing");
  expect(existsSync(inside("master.key"))).toBe(false);
  expect(await refusal({ ...env, SLUICE_MASTER_KEY: "another-master-key-of-forty-characters-00" })).toBe(
    "sluice: This database was made with another master key. Start with that key.",
  );
  moveBack("master.key");

  moveAway("sluice.db");
  expect(await refusal(env)).toStartWith(`sluice: The database ${inside("sluice.db")} is missing or empty, but beside`);
  expect((await runChild(cli, ["migrate"], env)).stderr).toContain("is missing or empty");
  expect((await runChild(cli, ["doctor"], env)).stdout).toContain("fail  database: The database");
  expect(existsSync(inside("sluice.db"))).toBe(false);
  writeFileSync(inside("sluice.db"), "");
  expect(await refusal(env)).toContain("is missing or empty, but beside it is master.key");
  truncateSync(inside("sluice.db"), 0);
  rmSync(inside("sluice.db"));
  moveBack("sluice.db");

  const again = await start(env);
  expect(await modelsFor(env, key)).toContain("demo");
  await stop(again);
});

test("a provider key that is set later is used while there is only the demo; after that, the banner names it as unused", async () => {
  const env = await environment(join(folder, "later"));
  await stop(await start(env));
  const second = await start({ ...env, OPENAI_API_KEY: "sk-later-4f1e8d2c9b7a6053" });
  expect(second.output()).toContain("found: OpenAI (OPENAI_API_KEY)");
  expect(second.output()).toMatch(/Providers +demo, openai/);
  await stop(second);
  const third = await start({ ...env, ANTHROPIC_API_KEY: "sk-later-4f1e8d2c9b7a6053" });
  expect(third.output()).toMatch(/Providers +demo, openai\n/);
  expect(third.output()).toMatch(/Not used +ANTHROPIC_API_KEY \(/);
  await stop(third);
});

test("a provider key is not used if providers or models were created or removed", async () => {
  const env = await environment(join(folder, "made"));
  const file = join(folder, "made.yaml");
  writeFileSync(
    file,
    "providers: [{ id: mine, kind: demo }]\nmodels: [{ name: own, deployments: [{ provider: mine }] }]\n",
  );
  expect((await runChild(cli, ["apply", file], env)).status).toBe(0);
  const child = await start({ ...env, OPENAI_API_KEY: "sk-later-4f1e8d2c9b7a6053" });
  expect(child.output()).toMatch(/Providers +mine\n/);
  expect(child.output()).toMatch(/Not used +OPENAI_API_KEY \(/);
  await stop(child);
});

test("an unusable data directory is reported with the reason", async () => {
  const file = join(folder, "a-file");
  writeFileSync(file, "");
  expect(await refusal(await environment(file))).toStartWith(`sluice: The data directory ${file} cannot be written (`);
  expect(await refusal(await environment(join(file, "inside")))).toContain("a part of its path is not a directory");
});

const isRoot = process.getuid?.() === 0;
const mayMount = isRoot && process.platform === "linux" && mount("probe", "size=64k") !== null;
if (!mayMount) console.log("skipped: full and read-only file systems, because none can be mounted here");

function mount(name: string, options: string): string | null {
  const path = join(folder, name);
  mkdirSync(path);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]).status !== 0) return null;
  mounts.push(path);
  return path;
}

test.skipIf(isRoot)(
  "a directory without write permission is reported (not as root, who may always write)",
  async () => {
    const path = join(folder, "not-ours");
    mkdirSync(path);
    chmodSync(path, 0o500);
    expect(await refusal(await environment(path))).toContain("permission denied");
  },
);

test.skipIf(!mayMount)("a read-only file system is reported, whether it is empty or contains a database", async () => {
  const path = mount("read-only", "size=16m") ?? "";
  const env = await environment(join(path, "data"));
  await stop(await start(env));
  expect(spawnSync("mount", ["-o", "remount,ro", path]).status).toBe(0);
  const reason = "cannot be written (the file system is read-only)";
  expect(await refusal(env)).toContain(reason);
  expect(await refusal(await environment(join(path, "new")))).toContain(reason);
});

/** How much more space each start gets, so that it gets a little further. DISK_STEP_KIB=4 tries every page. */
const roomStepKibibytes = Number(process.env["DISK_STEP_KIB"] ?? "160");

test.skipIf(!mayMount)(
  "a first start on a full disk reports it, however far it gets, and the next one with enough space succeeds",
  async () => {
    const path = mount("full", "size=40k") ?? "";
    const env = await environment(path);
    let key: string | undefined;
    let refused = 0;
    for (let kibibytes = 40; key === undefined && kibibytes < 8_192; kibibytes += roomStepKibibytes) {
      expect(spawnSync("mount", ["-o", `remount,size=${kibibytes}k`, path]).status).toBe(0);
      const child = startChild(cli, ["serve"], env);
      children.push(child);
      await until(() => (!child.running() || keyIn(child) !== undefined ? true : null));
      key = keyIn(child);
      if (key === undefined) {
        expect(await child.exited).toBe(1);
        // Parts of the gateway that were already running may have logged a line before.
        const lines = child
          .output()
          .split("\n")
          .filter((line) => line !== "" && !line.startsWith('{"level"'));
        expect(lines).toEqual([expect.stringMatching(/^sluice: .*(disk is full|whether it is full)/)]);
        refused += 1;
      } else {
        await stop(child);
      }
    }
    expect(refused).toBeGreaterThan(5);
    expect(spawnSync("mount", ["-o", "remount,size=32m", path]).status).toBe(0);
    const child = await start(env);
    expect(await modelsFor(env, key)).toContain("demo");
    await stop(child);
  },
);

test("a start with an invalid config file reports every problem, one per line", async () => {
  const config = join(folder, "wrong.yaml");
  writeFileSync(
    config,
    "providers: [{ id: main, kind: opena }]\nmodels: [{ name: m, deployments: [{ provider: missing }], flavor: red }]\n",
  );
  const dataDir = join(folder, "wrong-config");
  const { status, stdout, stderr } = await runChild(cli, ["serve"], {
    ...(await environment(dataDir)),
    SLUICE_CONFIG: config,
  });
  const lines = stderr.trim().split("\n");
  expect([status, stdout, stderr.includes("    at ")]).toEqual([1, "", false]);
  for (const word of ["opena", "missing", "flavor"])
    expect(lines.filter((line) => line.includes(word))).toHaveLength(1);
  expect(lines.at(-1)).toStartWith("sluice: ");
});

test("an invalid config file prevents a first start; later, the previous configuration stays active", async () => {
  const config = join(folder, "refused.yaml");
  const env = await environment(join(folder, "refused"), { SLUICE_CONFIG: config });
  const key = "sk-sluice-of-the-file-000000000000";
  const good = [
    "providers: [{ id: demo, kind: demo }]",
    "models: [{ name: from-file, deployments: [{ provider: demo }] }]",
    `workspaces: [{ slug: acme, keys: [{ name: ci, group: default, secret: ${key} }], groups: [{ name: default }] }]`,
  ].join("\n");
  const bad = "models: [{ name: from-file, deployments: [] }]";
  writeFileSync(config, bad);
  expect(await refusal(env)).toContain("models[0].deployments");
  writeFileSync(config, good);
  await stop(await start(env));
  // The second config would remove too much of what the file owns.
  for (const [text, problem] of [
    [bad, "models[0].deployments"],
    ["models: []\nworkspaces: []\nproviders: []", "no longer declares"],
  ] as const) {
    writeFileSync(config, text);
    const child = await start(env);
    expect(child.output()).toContain(`${config} (REFUSED; the previous configuration is used)`);
    expect(child.output()).toContain(problem);
    expect(await modelsFor(env, key)).toContain("from-file");
    const at = `http://127.0.0.1:${env.SLUICE_PORT}`;
    expect(await (await fetch(`${at}/readyz`)).text()).toContain("the config file was refused");
    const metrics = await (await fetch(`${at}/metrics`)).text();
    expect(metrics).toContain("sluice_config_file_valid 0");
    expect(metrics).toContain("sluice_config_file_last_good_timestamp_seconds 0");
    await stop(child);
  }
});
