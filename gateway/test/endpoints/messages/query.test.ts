import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { claudeGateway, hi, version } from "./claude-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(claudeGateway);
});
afterAll(() => gateway.stop());

test("returns 400 for an invalid query, without counting it against the upstream", async () => {
  for (let time = 0; time < 8; time++) {
    const refused = await gateway.post("/v1/messages?beta=\\", hi, { headers: version });
    expect(refused.status).toBe(400);
  }
  const served = await gateway.post("/v1/messages?beta=true", hi, { headers: version, script: { tokens: 1 } });
  expect([served.status, served.headers.get("x-sluice-attempts")]).toEqual([200, "1"]);
});

test("removes a key from the query and passes the rest", async () => {
  const path = "/v1/messages?beta=true&key=sk-in-the-query&of_next_year=1";
  await (await gateway.post(path, hi, { headers: version, script: { tokens: 1 } })).text();
  expect(gateway.simulator.simulator.truth.list().data.at(-1)?.query).toBe("beta=true&of_next_year=1");
});
