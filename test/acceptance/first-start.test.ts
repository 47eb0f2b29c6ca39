import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { type Child, root, startChild } from "./child.ts";
import { freePort } from "./free-port.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-first-start-"));
const children: Child[] = [];
afterAll(async () => {
  for (const child of children) {
    child.signal("SIGKILL");
    await child.exited;
  }
  rmSync(folder, { recursive: true, force: true });
});

function serve(env: Readonly<Record<string, string>>): Child {
  const child = startChild("gateway/src/cli/cli.ts", ["serve"], {
    HOME: folder,
    SLUICE_DRAIN_GRACE_MS: "0",
    ...env,
  });
  children.push(child);
  return child;
}

const lastLine = (child: Child): string => child.output().trim().split("\n").at(-1) ?? "";

/** Reads a secret from a file, and checks that only its owner may read it. */
function readSecret(path: string): string {
  expect(statSync(path).mode & 0o777).toBe(0o600);
  return readFileSync(path, "utf8").trim();
}

test("a first start without settings prints a working call and the files with its secrets; a second start uses the same key", async () => {
  const env = { SLUICE_PORT: String(await freePort()), SLUICE_DATA_DIR: join(folder, "a") };
  const url = `http://127.0.0.1:${env.SLUICE_PORT}`;
  const first = serve(env);
  const keyFile = await until(() => /Bearer \$\(cat '([^']+)'\)/.exec(first.output())?.[1]);
  const key = readSecret(keyFile);
  const link = readSecret(/Setup .* is in (\S+)/.exec(first.output())?.[1] ?? "no link");
  expect(link).toMatch(/^http:\S+\/console\/#setup=[\w-]{40,}$/);
  expect(first.output()).not.toContain(key);
  expect(first.output()).not.toContain("setup=");
  // Run the printed line in a shell, unchanged.
  const line = first.output().slice(first.output().indexOf("  curl -N"));
  const pasted = Bun.spawn(["sh", "-c", line.replace("localhost", "127.0.0.1")], { stdout: "pipe", stderr: "ignore" });
  expect(await pasted.stdout.text()).toEndWith("data: [DONE]\n\n");
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "demo", stream: true, messages: [{ role: "user", content: "Hello, Sluice!" }] }),
  });
  expect(await answer.text()).toEndWith("data: [DONE]\n\n");
  first.signal("SIGTERM");
  expect(await first.exited).toBe(0);

  const second = serve(env);
  await until(async () => (second.output().includes("is ready on") ? true : null));
  expect(second.output()).toContain(`Bearer $(cat '${keyFile}')`);
  expect([second.output().includes("sk-sluice-"), readSecret(keyFile)]).toEqual([false, key]);
  const models = await fetch(`${url}/v1/models`, { headers: { "x-api-key": key } });
  const offered = ((await models.json()) as { data: { id: string; endpoints: string[] }[] }).data;
  expect(offered.map((model) => model.id)).toContain("demo");
  // There is at least one model of each type, and every model has an endpoint.
  expect(offered.length).toBeGreaterThanOrEqual(9);
  expect(offered.filter((model) => model.endpoints.length === 0)).toEqual([]);

  const samePort = serve({ SLUICE_PORT: env.SLUICE_PORT, SLUICE_DATA_DIR: join(folder, "b") });
  expect(await samePort.exited).toBe(1);
  expect(lastLine(samePort)).toContain("already in use");
  const sameData = serve({ SLUICE_PORT: String(await freePort()), SLUICE_DATA_DIR: env.SLUICE_DATA_DIR });
  expect(await sameData.exited).toBe(1);
  expect(lastLine(sameData)).toContain("Another gateway runs on the data directory");
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

test("provider keys in the environment become providers, and are never printed", async () => {
  const secret = "sk-canary-4f1e8d2c9b7a6053";
  const child = serve({
    SLUICE_PORT: String(await freePort()),
    SLUICE_DATA_DIR: join(folder, "c"),
    SLUICE_LOG_LEVEL: "debug",
    OPENAI_API_KEY: secret,
    ARK_API_KEY: secret,
  });
  await until(async () => (child.output().includes("is ready on") ? true : null));
  expect(child.output()).toContain("found: OpenAI (OPENAI_API_KEY), Volcengine Ark (ARK_API_KEY)");
  expect(child.output()).toContain("gpt-6.1-sol");
  expect(child.output()).not.toContain(secret);
});

test("refuses to listen on a public address until there is an administrator", async () => {
  const env = { SLUICE_HOST: "0.0.0.0", SLUICE_PORT: String(await freePort()), SLUICE_DATA_DIR: join(folder, "d") };
  const refused = serve(env);
  expect(await refused.exited).toBe(1);
  expect(lastLine(refused)).toContain("no administrator yet");
  const allowed = serve({
    ...env,
    SLUICE_ADMIN_EMAIL: "ada@example.com",
    SLUICE_ADMIN_PASSWORD: "correct horse battery",
  });
  await until(async () => (allowed.output().includes("is ready on") ? true : null));
  expect(allowed.output()).not.toContain("#setup=");
  expect(allowed.output()).not.toContain("correct horse");
});

test("removes the files with the first secrets after setup; with SLUICE_LOG_FORMAT=json every line is JSON", async () => {
  const dataDir = join(folder, "e");
  const env = { SLUICE_PORT: String(await freePort()), SLUICE_DATA_DIR: dataDir, SLUICE_LOG_FORMAT: "json" };
  const child = serve(env);
  const lines = () => child.output().trim().split("\n");
  const ready = await until(() => {
    const line = lines().find((candidate) => candidate.includes('"Sluice is ready."'));
    return line === undefined ? null : (JSON.parse(line) as Record<string, unknown>);
  });
  expect(ready).toMatchObject({ url: `http://localhost:${env.SLUICE_PORT}`, models: expect.arrayContaining(["demo"]) });
  const link = readSecret(String(ready["setup_link_file"]));
  const key = readSecret(String(ready["first_key_file"]));
  const token = new URL(link).hash.replace("#setup=", "");
  const set = await fetch(`http://127.0.0.1:${env.SLUICE_PORT}/api/setup`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token, email: "ada@example.com", password: "correct horse battery" }),
  });
  expect(set.status).toBe(201);
  for (const name of ["setup-link", "first-key"]) expect(existsSync(join(dataDir, name))).toBe(false);
  child.signal("SIGTERM");
  expect(await child.exited).toBe(0);
  for (const line of lines()) expect(() => JSON.parse(line)).not.toThrow();
  expect(child.output()).not.toContain(token);
  expect(child.output()).not.toContain(key);
});

const script = Bun.which("script") ?? "";
if (script === "") console.warn("skipped: `script` (util-linux), which provides the terminal, is not installed");

test.skipIf(script === "")("on a terminal, prints the key and the link and writes no files with them", async () => {
  const dataDir = join(folder, "f");
  const command = `exec ${process.execPath} --no-env-file ${join(root, "gateway/src/cli/cli.ts")} serve`;
  const terminal = Bun.spawn([script, "-qec", command, "/dev/null"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      SLUICE_PORT: String(await freePort()),
      SLUICE_DATA_DIR: dataDir,
      SLUICE_LOG_LEVEL: "error",
      SLUICE_DRAIN_GRACE_MS: "0",
    },
    stdin: "pipe",
    stdout: "pipe",
  });
  let printed = "";
  let stopped = false;
  for await (const piece of terminal.stdout.pipeThrough(new TextDecoderStream())) {
    printed += piece;
    if (!stopped && printed.includes('"messages"')) {
      stopped = true;
      terminal.stdin.write("\u0003");
    }
  }
  expect(await terminal.exited).toBe(0);
  expect(printed).toMatch(/Bearer sk-sluice-\w+/);
  expect(printed).toMatch(/Console +http:\S+\/console\/#setup=[\w-]{40,}/);
  for (const name of ["setup-link", "first-key"]) expect(existsSync(join(dataDir, name))).toBe(false);
});
