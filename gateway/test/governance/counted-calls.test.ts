import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../started-gateway.ts";

const key = "sk-limited-0123456789abcdefghij";
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({ keys: [{ name: "limited", secret: key, limits: { rpm: 2 } }] });
});
afterAll(() => gateway.stop());

test("groups and assets count as requests of a key before their body is read; reading them does not", async () => {
  const made = await gateway.post("/v1/asset-groups", { platform: "local", name: "one" }, { key });
  expect(made.status).toBe(200);
  const { id } = (await made.json()) as { id: string };
  // An invalid request counts as well.
  expect((await gateway.post("/v1/assets", { platform: "local" }, { key })).status).toBe(400);
  const bearer = { authorization: `Bearer ${key}` };
  for (let read = 0; read < 5; read++) {
    expect((await gateway.get(`/v1/asset-groups/${id}?platform=local`, bearer)).status).toBe(200);
    expect((await gateway.get("/v1/assets", bearer)).status).toBe(200);
    expect((await gateway.get("/v1/video/tasks", bearer)).status).toBe(200);
  }
  const refused = [
    await gateway.post("/v1/asset-groups", "{", { key }),
    await gateway.post("/v1/assets", "{", { key }),
    await fetch(`${gateway.url}/v1/asset-groups/${id}`, { method: "DELETE", headers: bearer }),
  ];
  for (const response of refused) {
    expect(response.headers.get("retry-after")).not.toBeNull();
    expect(await errorOf(response)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
  }
  expect(gateway.gateway.outstanding()).toBe(0);
});
