import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { path, videoGateway, videoRequest } from "./videos-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

test.each([
  ["POST", path],
  ["GET", path],
  ["GET", `${path}/video_01`],
  ["DELETE", `${path}/video_01`],
  ["GET", `${path}/video_01/content`],
  ["POST", `${path}/video_01/remix`],
  ["POST", `${path}/edits`],
  ["GET", `${path}/characters/char_1`],
])("%s %s checks the key before anything else", async (method, at) => {
  for (const headers of [{}, { authorization: "Bearer sk-unknown-0123456789abcdefgh" }, { "x-api-key": "unknown" }]) {
    const body = method === "POST" ? JSON.stringify(videoRequest) : null;
    const answer = await fetch(`${gateway.url}${at}`, { method, headers, body });
    expect(answer.headers.get("x-request-id")).toStartWith("req_");
    expect(await errorOf(answer)).toMatchObject({ status: 401, code: "invalid_api_key" });
  }
  expect(gateway.simulator.simulator.truth.list().total).toBe(0);
});
