import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, hello, type StartedHouse, startHouse } from "../../started-house.ts";

let house: StartedHouse;
beforeAll(async () => {
  house = await startHouse();
});
afterAll(() => house.stop());

test.each([
  { "content-type": "application/x-www-form-urlencoded" },
  { "content-type": "text/plain" },
  { "content-type": "application/jsonx" },
  { "content-type": "application/json\ta" },
  { "content-encoding": "compress" },
])("a body of %j is refused", async (headers) => {
  expect(await errorOf(await house.chat(hello, { headers }))).toMatchObject({
    status: 415,
    code: "unsupported_media_type",
  });
});

test.each(["application/json; charset=utf-8", "Application/JSON", "application/vnd.api+json"])(
  "a body of %s is taken",
  async (type) => {
    const response = await house.chat(hello, { headers: { "content-type": type }, script: { tokens: 1 } });
    expect(response.status).toBe(200);
  },
);
