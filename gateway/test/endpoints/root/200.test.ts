import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test("answers a client that warms up its connection, without a key", async () => {
  const response = await fetch(gateway.url, { method: "HEAD" });
  expect([response.status, await response.text()]).toEqual([200, ""]);
});
