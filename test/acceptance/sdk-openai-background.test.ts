import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Script } from "@sluice/simulator";
import OpenAI from "openai";
import { until } from "../until.ts";
import { exportLedger } from "./ledger-rows.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys, model, testConfig, upstreamKey } from "./test-config.ts";

let setup: TestSetup;
let client: OpenAI;
beforeAll(async () => {
  setup = await openSetup((base_url) => ({
    ...testConfig(base_url),
    providers: [{ id: "openai", kind: "openai", base_url, api_key: upstreamKey, allow_private_network: true }],
    models: [model("gpt-test", [{ provider: "openai", upstream_model: "up-test" }])],
    workspaces: [{ slug: "acme", keys: [{ name: "main", secret: keys.main }] }],
  }));
  client = new OpenAI({ baseURL: `${setup.gateway.url}/v1`, apiKey: keys.main, maxRetries: 0 });
});
afterAll(() => setup?.close());

const request = (script: Script) => ({
  model: "gpt-test",
  input: `a tale [[sim ${JSON.stringify(script)}]]`,
  background: true,
});

/** The response's only entry in the ledger, once it has ended. */
async function ledgerRow(id: string) {
  const rows = await until(async () => {
    const found = (await exportLedger(setup.gateway)).filter((row) => "upstream_id" in row && row.upstream_id === id);
    return found.length > 0 ? found : null;
  });
  expect(rows).toHaveLength(1);
  return rows[0];
}

async function thrownBy(call: PromiseLike<unknown>): Promise<unknown> {
  return call.then(
    () => null,
    (reason: unknown) => reason,
  );
}

test("a background response is created, retrieved until it has completed, and deleted", async () => {
  const created = await client.responses.create(request({ tokens: 12, background_ms: 30 }));
  expect([created.status, created.background]).toEqual(["queued", true]);
  const whole = await until(async () => {
    const response = await client.responses.retrieve(created.id);
    return response.status === "completed" ? response : null;
  });
  expect([whole.id, whole.usage?.output_tokens, whole.output_text.length > 0]).toEqual([created.id, 12, true]);
  const items = await Array.fromAsync(client.responses.inputItems.list(created.id));
  expect(items).toHaveLength(1);
  await client.responses.delete(created.id);
  expect(await thrownBy(client.responses.retrieve(created.id))).toBeInstanceOf(OpenAI.NotFoundError);
  expect(await ledgerRow(created.id)).toMatchObject({ outcome: "succeeded", usage_source: "upstream", output: 12 });
});

test("its stream resumes after the last event that was received", async () => {
  const stream = await client.responses.create({ ...request({ tokens: 20, event_ms: 5 }), stream: true });
  let id = "";
  let seen = -1;
  for await (const event of stream) {
    if (event.type === "response.created") id = event.response.id;
    seen = event.sequence_number;
    if (event.type === "response.output_text.delta") break;
  }
  const rest = await client.responses.retrieve(id, { stream: true, starting_after: seen });
  const numbers: number[] = [];
  let last = "";
  for await (const event of rest) {
    numbers.push(event.sequence_number);
    last = event.type;
  }
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => seen + 1 + index));
  expect(last).toBe("response.completed");
  expect(await ledgerRow(id)).toMatchObject({ outcome: "succeeded", usage_source: "upstream", output: 20 });
});

test("can be canceled, also twice", async () => {
  const created = await client.responses.create(request({ tokens: 12, background_ms: 600_000 }));
  for (let times = 0; times < 2; times++) expect((await client.responses.cancel(created.id)).status).toBe("cancelled");
  expect((await client.responses.retrieve(created.id)).status).toBe("cancelled");
  expect(await ledgerRow(created.id)).toMatchObject({ outcome: "cancelled", usage_source: "estimated" });
});

test("returns 404 for an unknown response id", async () => {
  for (const call of [client.responses.retrieve("resp_none"), client.responses.cancel("resp_none")]) {
    expect(await thrownBy(call)).toBeInstanceOf(OpenAI.NotFoundError);
  }
});
