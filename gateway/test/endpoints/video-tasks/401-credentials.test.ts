import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { taskRequest, videoGateway } from "./video-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(videoGateway);
});
afterAll(() => gateway.stop());

test.each([
  ["POST", "/v1/video/tasks"],
  ["GET", "/v1/video/tasks"],
  ["GET", "/v1/video/tasks/vt_01"],
  ["DELETE", "/v1/video/tasks/vt_01"],
  ["GET", "/v1/video/tasks/vt_01/content"],
])("%s %s checks the key before anything else", async (method, path) => {
  for (const headers of [{}, { authorization: "Bearer sk-unknown-0123456789abcdefgh" }, { "x-api-key": "unknown" }]) {
    const body = method === "POST" ? JSON.stringify(taskRequest) : null;
    const answer = await fetch(`${gateway.url}${path}`, { method, headers, body });
    expect(answer.headers.get("x-request-id")).toStartWith("req_");
    expect(await errorOf(answer)).toMatchObject({ status: 401, code: "invalid_api_key" });
  }
  expect(gateway.simulator.simulator.truth.list().total).toBe(0);
});
