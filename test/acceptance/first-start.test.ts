import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { type Child, startChild } from "./child.ts";
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

test("a first start with nothing set prints a call that works, and a second one does not print its key again", async () => {
  const env = { SLUICE_PORT: String(await freePort()), SLUICE_DATA_DIR: join(folder, "a") };
  const url = `http://127.0.0.1:${env.SLUICE_PORT}`;
  const first = serve(env);
  const key = await until(async () => first.output().match(/Bearer (sk-sluice-\w+)/)?.[1] ?? null);
  expect(first.output()).toMatch(/Console +http:\S+\/console\/#setup=[\w-]{40,}/);
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
  expect(second.output()).not.toContain("sk-sluice-");
  const models = await fetch(`${url}/v1/models`, { headers: { "x-api-key": key } });
  expect(((await models.json()) as { data: { id: string }[] }).data.map((model) => model.id)).toEqual(["demo"]);

  const samePort = serve({ SLUICE_PORT: env.SLUICE_PORT, SLUICE_DATA_DIR: join(folder, "b") });
  expect(await samePort.exited).toBe(1);
  expect(lastLine(samePort)).toContain("already in use");
  const sameData = serve({ SLUICE_PORT: String(await freePort()), SLUICE_DATA_DIR: env.SLUICE_DATA_DIR });
  expect(await sameData.exited).toBe(1);
  expect(lastLine(sameData)).toContain("Another gateway runs on the data directory");
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

test("provider keys in the environment become providers, and their secrets are printed nowhere", async () => {
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

test("an address that others can reach is refused until there is an administrator", async () => {
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
