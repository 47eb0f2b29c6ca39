import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedHouse, startHouse } from "../../started-house.ts";
import { videoHouse } from "../video-tasks/video-house.ts";

let house: StartedHouse;
beforeAll(async () => {
  house = await startHouse(videoHouse);
});
afterAll(() => house.stop());

test.each([
  ["POST", "/v1/assets"],
  ["GET", "/v1/assets"],
  ["GET", "/v1/assets/as_01?platform=local"],
  ["DELETE", "/v1/assets/as_01"],
  ["POST", "/v1/asset-groups"],
  ["GET", "/v1/asset-groups"],
  ["GET", "/v1/asset-groups/ag_01?platform=local"],
  ["DELETE", "/v1/asset-groups/ag_01"],
])("%s %s wants a key before anything else, and a known one", async (method, path) => {
  for (const headers of [{}, { authorization: "Bearer sk-nobody-0123456789abcdefgh" }]) {
    const answer = await fetch(`${house.url}${path}`, { method, headers, body: method === "POST" ? "{" : null });
    expect(await errorOf(answer)).toMatchObject({ status: 401, code: "invalid_api_key" });
  }
  expect(house.simulator.simulator.truth.list().total).toBe(0);
});
