import { expect, test } from "bun:test";
import { errorOf, startGateway } from "../../started-gateway.ts";
import { path, videoGateway, videoRequest } from "./videos-gateway.ts";

test("accepts JSON and multipart forms only, and requires the boundary of a form", async () => {
  const gateway = await startGateway(videoGateway);
  try {
    for (const [type, status, code] of [
      ["application/x-www-form-urlencoded", 415, "unsupported_media_type"],
      ["text/plain", 415, "unsupported_media_type"],
      ["multipart/mixed; boundary=x", 415, "unsupported_media_type"],
      ["multipart/form-data", 400, "invalid_request"],
      ["multipart/form-data; boundary=x", 400, "invalid_request"],
    ] as const) {
      const answer = await gateway.post(path, "prompt=a", { headers: { "content-type": type } });
      expect([type, await errorOf(answer)]).toMatchObject([type, { status, code }]);
    }
    const headers = { "content-type": "application/json;charset=utf-8" };
    expect((await gateway.post(path, videoRequest, { headers })).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
