import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSocket } from "../endpoints/responses-socket/socket-gateway.ts";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";
import { type EchoUpstream, startEchoUpstream } from "./echo-upstream.ts";
import { email } from "./guardrail-fixture.ts";

const bobKey = "sk-bob-0123456789abcdefghijkl";
const pattern = /‹EMAIL_[0-9A-Z]{8}›/;

let echo: EchoUpstream;
let gateway: StartedGateway;
let dataDir: string;

function start(): Promise<StartedGateway> {
  return startGateway({
    providers: (simulator) => [upstream("openai", simulator, { kind: "openai", base_url: echo.url })],
    models: [{ name: "gpt", deployments: [{ provider: "openai", upstream_model: "gpt-5.1" }] }],
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "bob", secret: bobKey },
    ],
    guardrails: [{ name: "mail", check: { kind: "personal_data", types: ["email"] }, action: "mask", on: ["input"] }],
    environment: { dataDir },
  });
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "sluice-conversations-"));
  echo = startEchoUpstream();
  gateway = await start();
});
afterAll(async () => {
  await gateway.stop();
  echo.stop();
  rmSync(dataDir, { recursive: true, force: true });
});
beforeEach(() => {
  echo.pieces = () => ["fine"];
});

/** Makes a stored response with an email, and lets the upstream name its placeholder from then on. */
async function begin(more: object = {}): Promise<string> {
  const made = await gateway.post("/v1/responses", { model: "gpt", input: `I am ${email}`, ...more });
  const placeholder = pattern.exec(echo.requests.at(-1) ?? "")?.[0] ?? "";
  expect(placeholder).not.toBe("");
  echo.pieces = () => ["You are ", placeholder.slice(0, 7), placeholder.slice(7), "."];
  return ((await made.json()) as { id: string }).id;
}

const next = (previous_response_id: string, more: object = {}) => ({
  model: "gpt",
  input: "Who am I?",
  previous_response_id,
  ...more,
});

async function ask(id: string, more: object = {}, key = aliceKey): Promise<string> {
  return await (await gateway.post("/v1/responses", next(id, more), { key })).text();
}

test.each([false, true])(
  "restores values of earlier calls in the answer that continues them, streamed: %s",
  async (stream) => {
    const answer = await ask(await begin(), { stream });
    expect(answer).toContain(`You are ${email}.`);
    expect(answer).not.toMatch(pattern);
  },
);

test("restores them in every later answer, also over a WebSocket", async () => {
  const second = JSON.parse(await ask(await begin())) as { id: string };
  const third = JSON.parse(await ask(second.id)) as { id: string };
  const socket = await openSocket(gateway);
  const frames = JSON.stringify(await socket.ask({ type: "response.create", ...next(third.id) }));
  socket.close();
  expect(frames).toContain(`You are ${email}.`);
});

test.each([{}, { background: true }])("restores them when a stored answer is read again: %j", async (more) => {
  const id = await begin(more);
  for (const query of ["", "?stream=true"]) {
    expect(await (await gateway.get(`/v1/responses/${id}${query}`)).text()).toContain(email);
  }
});

test("restores them for no other key", async () => {
  const id = await begin();
  const answer = await ask(id, {}, bobKey);
  expect(answer).toMatch(pattern);
  expect(answer).not.toContain(email);
  const read = await gateway.get(`/v1/responses/${id}`, { authorization: `Bearer ${bobKey}` });
  expect(await read.text()).not.toContain(email);
});

test("keeps them encrypted, beyond a restart, and only with a stored answer", async () => {
  const id = await begin();
  await begin({ store: false });
  await gateway.entries();
  const rows = await gateway.control.database.kysely.selectFrom("upstream_objects").selectAll().execute();
  expect(JSON.stringify(rows)).not.toContain(email);
  expect(rows.find((row) => row.id === id)?.masked).toMatch(/./);
  await gateway.stop();
  gateway = await start();
  expect(await ask(id)).toContain(email);
});
