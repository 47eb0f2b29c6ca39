import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEnvironment } from "#config/index.ts";
import { until } from "../../../test/until.ts";
import { MovedClock } from "../moved-clock.ts";
import { errorOf, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-secrets-"));
const file = join(folder, "openai");
const clock = new MovedClock();
let gateway: StartedGateway;

beforeAll(async () => {
  writeFileSync(file, "sk-first-0001\n");
  const { workload } = readEnvironment({ SLUICE_SECRET_REFERENCES: `file://${folder}/,env://AI_` });
  gateway = await startGateway({
    clock,
    environment: { workload },
    providers: (simulator) => [
      upstream("main", simulator, { api_key: `file://${file}` }),
      upstream("outside", simulator, { api_key: "env://SLUICE_MASTER_KEY" }),
    ],
    models: [
      { name: "gpt-test", deployments: [{ provider: "main", upstream_model: "upstream-gpt" }] },
      { name: "gpt-outside", deployments: [{ provider: "outside", upstream_model: "upstream-gpt" }] },
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

const lastKey = () => gateway.simulator.simulator.truth.list().data.at(-1)?.authorization_last4;

test("a call has the secret of its provider's reference", async () => {
  const answer = await gateway.chat(hello);
  expect([answer.status, lastKey()]).toEqual([200, "0001"]);
  await answer.arrayBuffer();
});

test("a secret that the upstream refuses is read again, without a restart", async () => {
  writeFileSync(file, "sk-second-0002\n");
  clock.move(60_000);
  const refused = await gateway.chat(hello, { script: { status: 401 } });
  expect(refused.status).toBe(502);
  await refused.arrayBuffer();
  const keyNow = () => gateway.gateway.configSnapshot.current.providers.get("main")?.secret?.reveal();
  await until(() => keyNow() === "sk-second-0002");
  const answer = await gateway.chat(hello);
  expect([answer.status, lastKey()]).toEqual([200, "0002"]);
  await answer.arrayBuffer();
});

test("a reference that the operator does not allow sends nothing", async () => {
  const { status, code, message } = await errorOf(await gateway.chat({ ...hello, model: "gpt-outside" }));
  expect([status, code]).toEqual([502, "upstream_error"]);
  expect(message).toContain("SLUICE_SECRET_REFERENCES");
  expect(message).not.toContain("MASTER_KEY");
});

test("the metrics count references that cannot be read", async () => {
  const text = await (await gateway.get("/metrics")).text();
  expect(text).toMatch(/^sluice_secret_references_failing 1$/m);
});
