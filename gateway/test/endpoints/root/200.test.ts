import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedHouse, startHouse } from "../../started-house.ts";

let house: StartedHouse;
beforeAll(async () => {
  house = await startHouse();
});
afterAll(() => house.stop());

test("the warm-up of a connection is answered without a key", async () => {
  const response = await fetch(house.url, { method: "HEAD" });
  expect([response.status, await response.text()]).toEqual([200, ""]);
});
