import { expect, test } from "bun:test";
import { errorOf, startHouse } from "../../started-house.ts";

test("another method is refused and told which is possible", async () => {
  const house = await startHouse();
  try {
    const response = await house.get("/v1/chat/completions");
    expect(response.headers.get("allow")).toBe("POST");
    expect(await errorOf(response)).toMatchObject({ status: 405, code: "method_not_allowed" });
  } finally {
    await house.stop();
  }
});
