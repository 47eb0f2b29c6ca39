import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedHouse, startHouse } from "../../started-house.ts";
import { claudeHouse, hi, version } from "./claude-house.ts";

let house: StartedHouse;
beforeAll(async () => {
  house = await startHouse(claudeHouse);
});
afterAll(() => house.stop());

test("a query that no URL can hold is a 400, and never counts against the upstream", async () => {
  for (let time = 0; time < 8; time++) {
    const refused = await house.post("/v1/messages?beta=\\", hi, { headers: version });
    expect(refused.status).toBe(400);
  }
  const served = await house.post("/v1/messages?beta=true", hi, { headers: version, script: { tokens: 1 } });
  expect([served.status, served.headers.get("x-sluice-attempts")]).toEqual([200, "1"]);
});

test("a key in the query does not reach the upstream, the rest of the query does", async () => {
  const path = "/v1/messages?beta=true&key=sk-in-the-query&of_next_year=1";
  await (await house.post(path, hi, { headers: version, script: { tokens: 1 } })).text();
  expect(house.simulator.simulator.truth.list().data.at(-1)?.query).toBe("beta=true&of_next_year=1");
});
