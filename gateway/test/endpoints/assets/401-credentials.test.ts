import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { videoGateway } from "../video-tasks/video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

test.each([
  ["POST", "/v1/assets"],
  ["GET", "/v1/assets"],
  ["GET", "/v1/assets/as_01?platform=local"],
  ["DELETE", "/v1/assets/as_01"],
  ["POST", "/v1/asset-groups"],
  ["GET", "/v1/asset-groups"],
  ["GET", "/v1/asset-groups/ag_01?platform=local"],
  ["DELETE", "/v1/asset-groups/ag_01"],
])("%s %s checks the key before anything else", async (method, path) => {
  for (const headers of [{}, { authorization: "Bearer sk-unknown-0123456789abcdefgh" }]) {
    const answer = await fetch(`${gateway.url}${path}`, { method, headers, body: method === "POST" ? "{" : null });
    expect(await errorOf(answer)).toMatchObject({ status: 401, code: "invalid_api_key" });
  }
  expect(gateway.simulator.simulator.truth.list().total).toBe(0);
});
