import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

const bobKey = "sk-bob-0123456789abcdefghij";
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => ["one", "two", "three"].map((id) => upstream(id, simulator, { kind: "openai" })),
    models: [
      {
        name: "gpt-test",
        deployments: ["one", "two", "three"].map((provider) => ({ provider, upstream_model: "upstream-gpt" })),
        price: { input: 1, output: 10 },
      },
    ],
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "no-models", secret: bobKey, models: ["other-*"] },
    ],
  });
});
afterAll(() => gateway.stop());

const request = { model: "gpt-test", input: "Say hello to everyone" };
const bearer = { authorization: `Bearer ${aliceKey}` };
type StoredResponse = { id: string; status: string; output: unknown[] };

test("reads, continues, lists and deletes a stored response at the account that created it", async () => {
  for (let round = 0; round < 6; round++) {
    const created = await gateway.post("/v1/responses", request, { script: { tokens: 2 } });
    const provider = created.headers.get("x-sluice-provider");
    const { id } = (await created.json()) as StoredResponse;
    const read = await gateway.get(`/v1/responses/${id}`);
    expect([read.status, read.headers.get("x-sluice-provider")]).toEqual([200, provider]);
    expect(((await read.json()) as StoredResponse).id).toBe(id);
    const next = await gateway.post(
      "/v1/responses",
      { ...request, previous_response_id: id },
      { script: { tokens: 1 } },
    );
    expect([next.status, next.headers.get("x-sluice-provider")]).toEqual([200, provider]);
    const items = await gateway.get(`/v1/responses/${id}/input_items?limit=5`);
    expect(((await items.json()) as { data: unknown[] }).data.length).toBeGreaterThan(0);
    const deleted = await fetch(`${gateway.url}/v1/responses/${id}`, { method: "DELETE", headers: bearer });
    expect(deleted.status).toBe(200);
    expect((await gateway.get(`/v1/responses/${id}`)).status).toBe(404);
  }
});

test("reads a stored response at no cost", async () => {
  const created = await gateway.post("/v1/responses", request, { script: { tokens: 4 } });
  const { id } = (await created.json()) as StoredResponse;
  const before = (await gateway.entries()).length;
  for (let time = 0; time < 3; time++) await (await gateway.get(`/v1/responses/${id}`)).text();
  expect((await gateway.entries()).length).toBe(before);
});

test("returns 404 to a key that may not use the response's model, and for a missing response", async () => {
  const { id } = (await (
    await gateway.post("/v1/responses", request, { script: { tokens: 1 } })
  ).json()) as StoredResponse;
  for (const [path, key] of [
    [id, bobKey],
    ["resp_missing", aliceKey],
    ["resp_caf%C3%A9", aliceKey],
  ] as const) {
    const response = await gateway.get(`/v1/responses/${path}`, { authorization: `Bearer ${key}` });
    expect(response.status).toBe(404);
    expect(((await response.json()) as { error: { code: string } }).error.code).toBe("not_found");
  }
});
