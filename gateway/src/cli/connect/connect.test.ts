import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sluice } from "../../../test/command-line.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-connect-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const gateway = "https://gateway.example.com";
let homes = 0;

/** A temporary home directory with one program's settings file. */
function home(program: "claude" | "codex", text: string | null) {
  const at = join(folder, `${++homes}`);
  const file = program === "claude" ? join(at, ".claude", "settings.json") : join(at, ".codex", "config.toml");
  mkdirSync(join(file, ".."), { recursive: true });
  if (text !== null) writeFileSync(file, text);
  return {
    file,
    read: () => readFileSync(file, "utf8"),
    run: (words: readonly string[], stdin = "") =>
      sluice(["connect", program, ...words], folder, { HOME: at, SLUICE_LOGIN_FILE: join(at, "login.json") }, stdin),
  };
}

const claudeFiles = [
  "{}\n",
  "",
  '{\n\t"model": "opus",\n\t"env": { "A": "1", "B": 12345678901234567890 }\n}',
  '{"env":{},"permissions":{"deny":["Read(./.env)"]}}',
  '{\r\n  "apiKeyHelper": "other --now",\r\n  "env": {\r\n    "ANTHROPIC_BASE_URL": "https://old.example.com"\r\n  }\r\n}\r\n',
  '{ "a\\"b{": "x}", "a\\"b{": [1, {"c": "]"}], "n": 1e400 }',
];

test.each(claudeFiles)(
  "settings of Claude Code %j get two members, keep all others, and are back with --undo",
  async (text) => {
    const { file, read, run } = home("claude", text);
    const first = await run([gateway, "--yes"]);
    expect([first.status, first.stderr.includes("sluice token")]).toEqual([0, true]);
    const written = read();
    const value = JSON.parse(written);
    expect([value.apiKeyHelper, value.env.ANTHROPIC_BASE_URL]).toEqual(["sluice token", gateway]);
    const before = text === "" ? {} : JSON.parse(text);
    const rest = (all: Record<string, unknown>) => ({
      ...all,
      apiKeyHelper: 0,
      env: { ...(all["env"] as object), ANTHROPIC_BASE_URL: 0 },
    });
    expect(rest(value)).toEqual(rest(before));
    for (const odd of ["12345678901234567890", "1e400"]) expect(written.includes(odd)).toBe(text.includes(odd));
    expect(written.includes("\r\n")).toBe(text.includes("\r\n"));
    expect(readFileSync(`${file}.before-sluice`, "utf8")).toBe(text);

    const again = await run([gateway, "--yes"]);
    expect([again.status, again.stderr, read()]).toEqual([0, "", written]);
    expect(again.stdout).toContain("already");
    await run(["https://other.example.com", "--yes"]);
    expect(read()).toContain("https://other.example.com");
    expect(readFileSync(`${file}.before-sluice`, "utf8")).toBe(text);

    expect((await run(["--undo", "--yes"])).status).toBe(0);
    expect([read(), existsSync(`${file}.before-sluice`)]).toEqual([text, false]);
    expect((await run(["--undo", "--yes"])).stdout).toContain("has no settings of Sluice");
  },
);

const codexFiles = [
  "",
  '# mine\nmodel = "gpt-5"\n\n[mcp_servers.docs] # kept\ncommand = "x"\n',
  'model_provider = "other" # why\n\n[model_providers.other]\nname = "O"\n[profiles."a.b"]\nmodel = "m"\n',
  'prompt = """\n[model_providers.sluice]\nmodel_provider = "no"\n"""\nlist = [\n  "[x]", # ]\n  [1],\n]\n',
  "[tui]\r\nnotifications = true\r\n",
  "[[rules]]\na = 1\n[[rules]]\na = 2",
];

test.each(codexFiles)(
  "adds a provider to Codex's config %j, keeps its comments, and restores it with --undo",
  async (text) => {
    const { read, run } = home("codex", text);
    expect(await run([gateway, "--yes"])).toMatchObject({ status: 0 });
    const written = read();
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into an answer as freely as its reader would.
    const value = Bun.TOML.parse(written) as any;
    expect([value.model_provider, value.model_providers.sluice]).toEqual([
      "sluice",
      {
        name: "OpenAI",
        base_url: `${gateway}/v1`,
        wire_api: "responses",
        auth: { command: "sluice", args: ["token"], timeout_ms: 5000, refresh_interval_ms: 300_000 },
      },
    ]);
    for (const line of text.split(/\r?\n/)) if (!line.startsWith("model_provider =")) expect(written).toContain(line);
    for (const comment of text.match(/# \w+/g) ?? []) expect(written).toContain(comment);
    expect((await run([gateway, "--yes"])).stdout).toContain("already");
    expect(read()).toBe(written);
    expect((await run(["--undo", "--yes"])).status).toBe(0);
    expect(read()).toBe(text);
  },
);

test("replaces our tables wherever they are, and --undo keeps later changes", async () => {
  const { file, read, run } = home("codex", 'model = "gpt-5"\n');
  await run(["https://old.example.com", "--yes"]);
  writeFileSync(file, `${read()}\n# about docs\n[mcp_servers.docs]\ncommand = "x"\n`);
  await run([gateway, "--yes"]);
  expect(read()).not.toContain("old.example.com");
  expect(read()).toContain('# about docs\n[mcp_servers.docs]\ncommand = "x"\n');
  await run(["--undo", "--yes"]);
  expect(Bun.TOML.parse(read())).toEqual({ model: "gpt-5", mcp_servers: { docs: { command: "x" } } });
  expect(read()).toContain("# about docs");
});

test("creates a missing file readable by its user only, and --undo deletes it", async () => {
  for (const program of ["claude", "codex"] as const) {
    const { file, run } = home(program, null);
    const answer = await run([gateway, "--yes", "--json"]);
    expect(JSON.parse(answer.stdout)).toEqual({ file, url: gateway, changed: true, backup: null });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await run(["--undo", "--yes"])).status).toBe(0);
    expect(existsSync(file)).toBe(false);
  }
});

test("writes nothing without a confirmation, and does not show other content of the file", async () => {
  const text = '{\n  "env": {\n    "SECRET": "hidden"\n  }\n}\n';
  const { read, run } = home("claude", text);
  const nobody = await run([gateway]);
  expect([nobody.status, nobody.stdout]).toEqual([1, ""]);
  expect(nobody.stderr).toContain("use --yes");
  expect(nobody.stderr).toContain(`"ANTHROPIC_BASE_URL": "${gateway}"`);
  expect(nobody.stderr).not.toContain("hidden");
  const no = await run([gateway], "n");
  expect([no.status, read()]).toEqual([1, text]);
  expect((await run([gateway], "y")).status).toBe(0);
  expect(read()).not.toBe(text);
});

test.each([
  ["claude", "{ // mine\n}", "is not valid JSON"],
  ["claude", "[]", "is not a JSON object"],
  ["claude", '{"env": "x"', "is not valid JSON"],
  ["codex", "a = ", "is not valid TOML"],
  ["codex", "model_providers = { other = { name = 'O' } }\n", "cannot be edited safely"],
  ["codex", '[model_providers]\nsluice = { name = "S" }\n', "cannot be edited safely"],
] as const)("of %s a file %j is refused in one line and stays", async (program, text, line) => {
  const { read, run } = home(program, text);
  const answer = await run([gateway, "--yes"]);
  expect([answer.status, answer.stdout, read()]).toEqual([1, "", text]);
  expect(answer.stderr).toContain(line);
  expect(answer.stderr.trim().split("\n")).toHaveLength(1);
});

test("keeps a symbolic link and the mode of its file; refuses a broken link and a read-only file", async () => {
  const { file, read, run } = home("claude", null);
  const real = join(folder, `real-${homes}.json`);
  writeFileSync(real, "{}", { mode: 0o640 });
  symlinkSync(real, file);
  expect((await run([gateway, "--yes"])).status).toBe(0);
  expect([lstatSync(file).isSymbolicLink(), statSync(real).mode & 0o777]).toEqual([true, 0o640]);
  expect(read()).toContain(gateway);
  chmodSync(real, 0o440);
  const locked = await run(["https://other.example.com", "--yes"]);
  expect([locked.status, locked.stderr.includes("is read-only")]).toEqual([1, true]);
  rmSync(real);
  expect((await run([gateway, "--yes"])).stderr).toContain("is a broken link");
});

test("names settings that override the helper, writes the machine's settings with --login, and refuses wrong arguments", async () => {
  const { file, run } = home("claude", '{"env": {"ANTHROPIC_AUTH_TOKEN": "x"}}');
  expect((await run([gateway, "--yes"])).stdout).toContain("the file sets env.ANTHROPIC_AUTH_TOKEN");
  const machine = join(folder, "managed-settings.json");
  expect((await run([gateway, "--login", "--file", machine, "--yes"])).status).toBe(0);
  expect(JSON.parse(readFileSync(machine, "utf8"))).toEqual({
    forceLoginMethod: "gateway",
    forceLoginGatewayUrl: gateway,
  });
  expect(existsSync(file)).toBe(true);
  for (const words of [["vim", gateway], ["codex", gateway, "--login"], ["claude"], ["claude", "http://example.com"]]) {
    const answer = await sluice(["connect", ...words], folder, {
      HOME: folder,
      SLUICE_LOGIN_FILE: join(folder, "none"),
    });
    expect([words, answer.status, answer.stderr.trim().split("\n").length]).toEqual([words, 2, 1]);
  }
});
