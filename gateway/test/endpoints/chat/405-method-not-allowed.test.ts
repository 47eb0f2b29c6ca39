import { expect, test } from "bun:test";
import { errorOf, startGateway } from "../../started-gateway.ts";

test("returns 405 with the allowed method", async () => {
  const gateway = await startGateway();
  try {
    const response = await gateway.get("/v1/chat/completions");
    expect(response.headers.get("allow")).toBe("POST");
    expect(await errorOf(response)).toMatchObject({ status: 405, code: "method_not_allowed" });
  } finally {
    await gateway.stop();
  }
});
