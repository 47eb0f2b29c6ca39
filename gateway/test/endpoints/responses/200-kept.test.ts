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

const ask = { model: "gpt-test", input: "Say hello to everyone" };
const bearer = { authorization: `Bearer ${aliceKey}` };
type Kept = { id: string; status: string; output: unknown[] };

test("what an account keeps is found, continued, listed and deleted through whichever account made it", async () => {
  for (let round = 0; round < 6; round++) {
    const made = await gateway.post("/v1/responses", ask, { script: { tokens: 2 } });
    const provider = made.headers.get("x-sluice-provider");
    const { id } = (await made.json()) as Kept;
    const seen = await gateway.get(`/v1/responses/${id}`);
    expect([seen.status, seen.headers.get("x-sluice-provider")]).toEqual([200, provider]);
    expect(((await seen.json()) as Kept).id).toBe(id);
    const next = await gateway.post("/v1/responses", { ...ask, previous_response_id: id }, { script: { tokens: 1 } });
    expect([next.status, next.headers.get("x-sluice-provider")]).toEqual([200, provider]);
    const items = await gateway.get(`/v1/responses/${id}/input_items?limit=5`);
    expect(((await items.json()) as { data: unknown[] }).data.length).toBeGreaterThan(0);
    const gone = await fetch(`${gateway.url}/v1/responses/${id}`, { method: "DELETE", headers: bearer });
    expect(gone.status).toBe(200);
    expect((await gateway.get(`/v1/responses/${id}`)).status).toBe(404);
  }
});

test("seeing an answer again costs nothing", async () => {
  const made = await gateway.post("/v1/responses", ask, { script: { tokens: 4 } });
  const { id } = (await made.json()) as Kept;
  const before = (await gateway.entries()).length;
  for (let time = 0; time < 3; time++) await (await gateway.get(`/v1/responses/${id}`)).text();
  expect((await gateway.entries()).length).toBe(before);
});

test("an answer is not shown to a key that may not call its model, nor one that nobody made", async () => {
  const { id } = (await (await gateway.post("/v1/responses", ask, { script: { tokens: 1 } })).json()) as Kept;
  for (const [path, key] of [
    [id, bobKey],
    ["resp_nobody", aliceKey],
    ["resp_caf%C3%A9", aliceKey],
  ] as const) {
    const response = await gateway.get(`/v1/responses/${path}`, { authorization: `Bearer ${key}` });
    expect(response.status).toBe(404);
    expect(((await response.json()) as { error: { code: string } }).error.code).toBe("not_found");
  }
});
