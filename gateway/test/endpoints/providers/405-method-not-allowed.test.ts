import { expect, test } from "bun:test";
import { errorOf } from "../../started-gateway.ts";
import { call, startGranted, startVendor } from "./vendor.ts";

test("returns 405 with the allowed methods", async () => {
  const vendor = await startVendor();
  const gateway = await startGranted(vendor);
  try {
    const answer = await call(gateway, "OPTIONS", "/files");
    expect(answer.headers.get("allow")).toBe("GET, HEAD, POST, PUT, PATCH, DELETE");
    expect(await errorOf(answer)).toMatchObject({ status: 405, code: "method_not_allowed" });
    expect(vendor.received).toHaveLength(0);
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});
