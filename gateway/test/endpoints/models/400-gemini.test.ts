import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, type StartedHouse, startHouse } from "../../started-house.ts";

let house: StartedHouse;
beforeAll(async () => {
  house = await startHouse();
});
afterAll(() => house.stop());

test.each(["pageSize=-1", "pageSize=some", "pageSize=1.5", "pageToken=%21", `pageToken=${"a".repeat(9_000)}`])(
  "a list with %s is refused in Google's shape",
  async (query) => {
    const response = await house.get(`/v1beta/models?${query}`, { "x-goog-api-key": aliceKey });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 400, status: "INVALID_ARGUMENT" } });
  },
);
