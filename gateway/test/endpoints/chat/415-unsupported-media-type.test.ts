import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, hello, type StartedGateway, startGateway } from "../../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

test.each([
  { "content-type": "application/x-www-form-urlencoded" },
  { "content-type": "text/plain" },
  { "content-type": "application/jsonx" },
  { "content-type": "application/json\ta" },
  { "content-encoding": "compress" },
])("rejects a body of %j", async (headers) => {
  expect(await errorOf(await gateway.chat(hello, { headers }))).toMatchObject({
    status: 415,
    code: "unsupported_media_type",
  });
});

test.each(["application/json; charset=utf-8", "Application/JSON", "application/vnd.api+json"])(
  "accepts a body of %s",
  async (type) => {
    const response = await gateway.chat(hello, { headers: { "content-type": type }, script: { tokens: 1 } });
    expect(response.status).toBe(200);
  },
);
