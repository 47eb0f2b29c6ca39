import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configJsonSchema } from "@sluice/contract";
import { bareEnvironment } from "../../../test/bare-environment.ts";
import { type Answer, sluice } from "../command-line.ts";
import { isMadeKey } from "../made-key.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("creates, lists and revokes a key; its secret is shown once and stored nowhere", async () => {
  const dataDir = join(folder, "keys");
  await sluice(["migrate"], dataDir);
  expect((await sluice(["workspace", "create", "acme", "--name", "Acme"], dataDir)).status).toBe(0);
  const create = "key create --name ci --expires 90d --models a,gpt-* --allow-ip 10.0.0.0/8 --rpm 60 --budget 50/month";
  const made = await sluice([...create.split(" "), "--json"], dataDir);
  expect(made).toMatchObject({ status: 0, stderr: "" });
  const key = JSON.parse(made.stdout);
  // A script uses the first text in the output that looks like a key.
  expect(made.stdout.match(/sk-sluice-[\w-]+/)?.[0]).toBe(key.secret);
  expect(key).toMatchObject({
    workspace: "acme",
    group: "default",
    name: "ci",
    models: ["a", "gpt-*"],
    allowed_ips: ["10.0.0.0/8"],
    limits: { rpm: 60 },
    budget: { usd: 50, period: "month" },
    enabled: true,
  });
  expect(isMadeKey(key.secret)).toBe(true);
  expect(Date.parse(key.expires_at) - Date.parse(key.created_at)).toBeWithin(90 * 86_400_000 - 60_000, 90 * 86_400_000);

  const listed = await sluice(["key", "list"], dataDir);
  expect(listed.stdout).toContain(key.id);
  expect(listed.stdout).not.toContain(key.secret);
  for (const file of ["sluice.db", "sluice.db-wal"]) {
    const path = join(dataDir, file);
    if (existsSync(path)) expect(readFileSync(path).includes(key.secret)).toBe(false);
  }

  expect((await sluice(["key", "revoke", key.id], dataDir)).status).toBe(0);
  const after = await sluice(["key", "list", "--json"], dataDir);
  expect(JSON.parse(after.stdout).keys[0]).toMatchObject({ id: key.id, enabled: false });
  expect(await sluice(["key", "revoke", "key_none"], dataDir)).toEqual({
    status: 1,
    stdout: "",
    stderr: "sluice: key not found; see `sluice key list`\n",
  });
  expect((await sluice(["key", "create", "--name", "x", "--workspace", "nobody"], dataDir)).stderr).toBe(
    'sluice: there is no workspace "nobody"; see `sluice workspace list`\n',
  );
});

test("rotates a key; the old secret is valid for the grace time", async () => {
  const dataDir = join(folder, "rotated");
  await sluice(["migrate"], dataDir);
  expect((await sluice(["workspace", "create", "acme"], dataDir)).status).toBe(0);
  const key = JSON.parse((await sluice("key create --name ci --rpm 60 --json".split(" "), dataDir)).stdout);
  const rotated = await sluice(["key", "rotate", key.id, "--grace", "24h", "--json"], dataDir);
  expect(rotated).toMatchObject({ status: 0, stderr: "" });
  const turned = JSON.parse(rotated.stdout);
  expect(turned).toMatchObject({ id: key.id, name: "ci", last_four: turned.secret.slice(-4), limits: { rpm: 60 } });
  expect(isMadeKey(turned.secret)).toBe(true);
  expect(turned.secret).not.toBe(key.secret);
  expect(Date.parse(turned.old_secret_until) - Date.now()).toBeWithin(86_400_000 - 60_000, 86_400_000 + 1);
  expect((await sluice(["key", "rotate", key.id, "--grace", "31d"], dataDir)).status).toBe(2);
  expect((await sluice(["key", "rotate", "key_none"], dataDir)).stderr).toBe(
    "sluice: key not found; see `sluice key list`\n",
  );
  expect((await sluice(["key", "revoke", key.id], dataDir)).status).toBe(0);
  expect((await sluice(["key", "rotate", key.id], dataDir)).stderr).toBe(
    "sluice: The key ci is revoked, which is permanent. Create a new key.\n",
  );
});

test("creates, lists, rotates and revokes a service token, and refuses an API key there", async () => {
  const dataDir = join(folder, "service");
  await sluice(["migrate"], dataDir);
  expect((await sluice(["workspace", "create", "acme"], dataDir)).status).toBe(0);
  const made = JSON.parse((await sluice("token service create --name ci --json".split(" "), dataDir)).stdout);
  expect(made).toMatchObject({ service: true, name: "ci", group: "default" });
  expect(Date.parse(made.expires_at) - Date.parse(made.created_at)).toBeWithin(
    90 * 86_400_000 - 60_000,
    91 * 86_400_000,
  );
  const key = JSON.parse((await sluice("key create --name other --json".split(" "), dataDir)).stdout);
  const listed = JSON.parse((await sluice("token service list --json".split(" "), dataDir)).stdout);
  expect(listed.tokens.map(({ id }: { id: string }) => id)).toEqual([made.id]);
  const renewed = `token service rotate ${made.prefix} --grace 1h --expires 180d --json`.split(" ");
  const rotated = JSON.parse((await sluice(renewed, dataDir)).stdout);
  expect(Date.parse(rotated.expires_at)).toBeGreaterThan(Date.parse(made.expires_at));
  expect(Date.parse(rotated.old_secret_until) - Date.now()).toBeWithin(3_600_000 - 60_000, 3_600_001);
  expect((await sluice(["token", "service", "revoke", key.id], dataDir)).stderr).toBe(
    "sluice: other is an API key, not a service token; see `sluice key`\n",
  );
  const revoked = await sluice(["token", "service", "revoke", made.id], dataDir);
  expect(revoked).toMatchObject({ status: 0, stdout: expect.stringContaining("revoked ci of acme/default") });
});

test("check accepts a valid file, and reports every problem of an invalid one without touching the data directory", async () => {
  const dataDir = join(folder, "untouched");
  const good = written("good.yaml", "providers: [{ id: main, kind: demo }]\n");
  expect(await sluice(["check", good], dataDir)).toEqual({
    status: 0,
    stdout: `${good} is valid: 1 provider, 0 models, 0 workspaces, 0 keys\n`,
    stderr: "",
  });
  const bad = written(
    "bad.yaml",
    "providers:\n  - id: main\n    kind: opnai\nmodels:\n  - { name: m, deployments: [{ provider: x }] }\n",
  );
  expect(await sluice(["check", bad], dataDir)).toEqual({
    status: 1,
    stdout:
      `${bad}:3:11: providers[0].kind: there is no provider type "opnai"; did you mean \`openai\`?\n` +
      `${bad}:5:42: models[0].deployments[0].provider: there is no provider "x"\n`,
    stderr: `sluice: ${bad} is invalid: 2 problems\n`,
  });
  const asJson = await sluice(["--json", "check", bad], dataDir);
  expect(JSON.parse(asJson.stdout)).toMatchObject({ valid: false, count: 2, problems: [{ line: 3 }, { line: 5 }] });
  expect(asJson.status).toBe(1);
  const applied = await sluice(["apply", bad], dataDir);
  expect(applied).toEqual(await sluice(["check", bad], dataDir));
  expect(existsSync(dataDir)).toBe(false);
});

test("apply creates the objects of a file once", async () => {
  const dataDir = join(folder, "applied");
  const file = written("apply.yaml", "providers: [{ id: main, kind: demo }]\nworkspaces: [{ slug: acme }]\n");
  const first = await sluice(["apply", file, "--json"], dataDir);
  expect(JSON.parse(first.stdout).changes).toContain("created provider main");
  expect((await sluice(["apply", file], dataDir)).stdout).toBe("nothing changed\n");
  const workspaces = JSON.parse((await sluice(["workspace", "list", "--json"], dataDir)).stdout).workspaces;
  expect(workspaces).toMatchObject([{ slug: "acme", groups: ["default"], managed_by: "file" }]);
  const tested = await sluice(["provider", "test", "main", "--json"], dataDir);
  expect(JSON.parse(tested.stdout)).toMatchObject({ provider: "main", ok: true, status: 200 });
  const unknown = await sluice(["provider", "test", "mian"], dataDir);
  expect(unknown).toMatchObject({ status: 1, stderr: 'sluice: provider "mian" not found; providers: main\n' });
});

const wrongUsage: readonly [readonly string[], string][] = [
  [["serv"], "unknown command 'serv'; did you mean serve?"],
  [["key"], "missing command; see --help"],
  [["key", "create"], "required option '--name <name>' not specified"],
  [["check", "a", "b"], "too many arguments for 'check'. Expected 1 argument but got 2."],
  [["check"], "name a config file, or set SLUICE_CONFIG"],
  [["serve", "--prot"], "unknown option '--prot'"],
  [
    ["key", "create", "--name", "x", "--rpm", "many"],
    "option '--rpm <n>' argument 'many' is invalid. It must be an integer from 1 to 1000000000000.",
  ],
];

test("a wrong command line is status 2 and one line", async () => {
  const answers = await Promise.all(wrongUsage.map(([words]) => sluice(words, folder)));
  expect(answers).toEqual(wrongUsage.map(([, line]) => ({ status: 2, stdout: "", stderr: `sluice: ${line}\n` })));
  const [[words, line] = [[], ""]] = wrongUsage;
  expect(await sluiceProcess(words, folder)).toEqual({ status: 2, stdout: "", stderr: `sluice: ${line}\n` });
});

test("a failure is one line; a stack trace follows only at log level debug", async () => {
  const broken = { SLUICE_PORT: "many" };
  const quiet = await sluice(["key", "list"], folder, broken);
  expect(quiet).toEqual({
    status: 1,
    stdout: "",
    stderr: "sluice: SLUICE_PORT must be an integer from 0 to 65535\n",
  });
  const loud = await sluice(["key", "list"], folder, { ...broken, SLUICE_LOG_LEVEL: "debug" });
  expect(loud.stderr).toContain("environment.ts");
});

test("prints the schema, the version and help completely with status 0", async () => {
  const [schema, help] = await Promise.all([["schema"], ["--help"]].map((words) => sluiceProcess(words, folder)));
  const [version, helpFlag, ofKeys] = await Promise.all(
    [["--version"], ["help"], ["help", "key"]].map((words) => sluice(words, folder)),
  );
  expect(helpFlag?.stdout).toBe(help?.stdout ?? "");
  expect(ofKeys).toMatchObject({ status: 0, stdout: expect.stringContaining("rotate"), stderr: "" });
  expect(JSON.parse(schema?.stdout ?? "")).toEqual(configJsonSchema());
  expect(version?.stdout).toMatch(/^\d+\.\d+\.\d+ \(.+\)\n$/);
  for (const command of ["serve", "check", "apply", "key", "ledger", "doctor"]) expect(help?.stdout).toContain(command);
  for (const answer of [schema, version, help]) expect(answer).toMatchObject({ status: 0, stderr: "" });
});

test("doctor finds a readable key file and a lost one, and changes nothing", async () => {
  const dataDir = join(folder, "doctor");
  const before = await sluice(["doctor", "--json"], dataDir, { SLUICE_PORT: "0" });
  expect(JSON.parse(before.stdout)).toMatchObject({ ok: true });
  expect(existsSync(dataDir)).toBe(false);
  await sluice(["migrate"], dataDir);
  await sluice(["workspace", "create", "acme"], dataDir);
  Bun.spawnSync(["chmod", "644", join(dataDir, "master.key")]);
  const open = await sluice(["doctor"], dataDir, { SLUICE_PORT: "0" });
  expect(open.stdout).toContain("master.key is readable by others (mode 644) → chmod 600");
  expect(open).toMatchObject({ status: 1 });
  rmSync(join(dataDir, "master.key"));
  const lost = await sluice(["doctor"], dataDir, { SLUICE_PORT: "0" });
  expect(lost.stdout).toContain("fail  master key fits: the database exists, but its key file is missing");
  expect(existsSync(join(dataDir, "master.key"))).toBe(false);
});

test("verifies and exports the empty ledger of a new installation", async () => {
  const dataDir = join(folder, "ledger");
  await sluice(["migrate"], dataDir);
  const verified = await sluice(["ledger", "verify", "--json"], dataDir);
  expect(JSON.parse(verified.stdout)).toEqual({
    ok: true,
    entries: 0,
    cost_nano_usd: "0",
    journal: { settled: 0, open: 0 },
    faults: [],
  });
  expect(await sluice(["ledger", "export", "--json"], dataDir)).toEqual({ status: 0, stdout: "", stderr: "" });
  expect((await sluice(["ledger", "export", "--format", "csv"], dataDir)).stdout).toStartWith("attempt_id,");
  const focus = (...more: readonly string[]) => sluice(["export", "focus", ...more], dataDir);
  const [today = ""] = new Date().toISOString().split("T");
  expect((await focus("--from", "2026-01-01", "--to", "2026-01-02")).stdout).toMatch(/^BilledCost,.*\r\n$/);
  expect(await focus("--from", today)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("is not closed yet"),
  });
  expect(await focus("--from", "January")).toMatchObject({ status: 2 });
  expect(await focus("--from", "2026-01-01", "--workspace", "nobody")).toMatchObject({ status: 1 });
});

test("a closed output pipe ends a command without a failure", async () => {
  const shell = Bun.spawn(["bash", "-c", `set -o pipefail; '${process.execPath}' '${cli}' schema | head -c 1`], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [text, complaint] = await Promise.all([shell.stdout.text(), shell.stderr.text()]);
  expect([text, complaint, await shell.exited]).toEqual(["{", "", 0]);
});

test.skipIf(!existsSync("/dev/full"))(
  "an answer that does not fit on the disk is a failure (where /dev/full exists)",
  () => {
    const shell = Bun.spawnSync(["bash", "-c", `'${process.execPath}' '${cli}' schema > /dev/full`], {
      stderr: "pipe",
    });
    expect([shell.exitCode, shell.stderr.toString()]).toEqual([1, "sluice: the disk is full\n"]);
  },
);

test("simulate prints its address and stops on a signal", async () => {
  const running = Bun.spawn([process.execPath, cli, "simulate", "--json"], { stdout: "pipe", stderr: "pipe" });
  const { value } = await running.stdout.getReader().read();
  const { url } = JSON.parse(new TextDecoder().decode(value));
  expect((await fetch(`${url}/models`)).status).toBe(200);
  running.kill("SIGTERM");
  expect(await running.exited).toBe(0);
});

const cli = join(import.meta.dir, "../../src/cli/cli.ts");

/** The same in a separate process. */
async function sluiceProcess(words: readonly string[], dataDir: string): Promise<Answer> {
  const child = Bun.spawn([process.execPath, "--no-env-file", cli, ...words], {
    env: { ...bareEnvironment(), SLUICE_DATA_DIR: dataDir },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { status, stdout, stderr };
}

function written(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

test("shows prices of a newer price list, and applies them only with --yes; custom prices stay", async () => {
  const dataDir = join(folder, "price-list");
  const config = join(folder, "price-list.json");
  const deployments = [{ provider: "main" }];
  writeFileSync(
    config,
    JSON.stringify({
      providers: [{ id: "main", kind: "openai", api_key: "sk-upstream" }],
      models: [
        { name: "gpt-5", deployments },
        { name: "gpt-5-mini", deployments, price: { input: 9 } },
      ],
    }),
  );
  expect(await sluice(["apply", config], dataDir)).toMatchObject({ status: 0, stderr: "" });
  const prices = join(folder, "prices.json");
  const match = { starts_with: "gpt-5" };
  writeFileSync(
    prices,
    JSON.stringify([{ id: "openai", models: [{ id: "gpt-5", match, prices: { input_mtok: 3 } }] }]),
  );
  const digest = new Bun.CryptoHasher("sha256").update(readFileSync(prices)).digest("hex");
  const update = (...more: string[]) => sluice(["price-list", "update", "--from", prices, ...more], dataDir);

  const shown = await update();
  expect(shown).toMatchObject({ status: 0, stderr: "" });
  expect(shown.stdout).toMatch(/gpt-5 +main\/gpt-5 +none +input 3/);
  expect(shown.stdout).toContain("nothing was changed: use --yes to apply them");
  expect(shown.stdout).not.toContain("gpt-5-mini");
  expect((await update("--digest", `sha256:${"0".repeat(64)}`, "--yes")).stderr).toContain("nothing was changed");
  expect((await update("--digest", "md5:1")).stderr).toContain("sha256:<64 hexadecimal digits>");
  expect(JSON.parse((await update("--json")).stdout)).toMatchObject({
    applied: [],
    changes: [{ after: { input: 3 } }],
  });

  const updated = await update("--digest", `sha256:${digest}`, "--yes", "--json");
  expect(JSON.parse(updated.stdout)).toMatchObject({ applied: ["gpt-5"], digest });
  expect((await sluice(["price-list", "update"], dataDir)).stdout).toContain("no prices change");
  const insecure = await sluice(["price-list", "update", "--from", "http://prices.example/data.json"], dataDir);
  expect(insecure).toMatchObject({ status: 1, stderr: expect.stringContaining("https") });
  writeFileSync(prices, "[]");
  expect(await update("--yes")).toMatchObject({ status: 1, stderr: expect.stringContaining("not a price list") });
  expect((await sluice(["price-list", "update", "--from", join(folder, "nowhere")], dataDir)).status).toBe(1);
});
