import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test.each(["pageSize=-1", "pageSize=some", "pageSize=1.5", "pageToken=%21", `pageToken=${"a".repeat(9_000)}`])(
  "returns 400 in Google's shape for a list with %s",
  async (query) => {
    const response = await gateway.get(`/v1beta/models?${query}`, { "x-goog-api-key": aliceKey });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 400, status: "INVALID_ARGUMENT" } });
  },
);
