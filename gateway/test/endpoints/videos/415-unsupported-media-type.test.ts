import { expect, test } from "bun:test";
import { errorOf, startHouse } from "../../started-house.ts";
import { ask, path, videoHouse } from "./videos-house.ts";

test("a body that is neither JSON nor a form with parts is refused, and a form without a boundary is no form", async () => {
  const house = await startHouse(videoHouse);
  try {
    for (const [type, status, code] of [
      ["application/x-www-form-urlencoded", 415, "unsupported_media_type"],
      ["text/plain", 415, "unsupported_media_type"],
      ["multipart/mixed; boundary=x", 415, "unsupported_media_type"],
      ["multipart/form-data", 400, "invalid_request"],
      ["multipart/form-data; boundary=x", 400, "invalid_request"],
    ] as const) {
      const answer = await house.post(path, "prompt=a", { headers: { "content-type": type } });
      expect([type, await errorOf(answer)]).toMatchObject([type, { status, code }]);
    }
    const headers = { "content-type": "application/json;charset=utf-8" };
    expect((await house.post(path, ask, { headers })).status).toBe(200);
  } finally {
    await house.stop();
  }
});
