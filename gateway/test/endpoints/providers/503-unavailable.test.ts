import { expect, test } from "bun:test";
import { errorOf } from "../../started-gateway.ts";
import { call, startGranted, startVendor } from "./vendor.ts";

test("returns 503 for a disabled provider", async () => {
  const vendor = await startVendor();
  const gateway = await startGranted(vendor, { enabled: false });
  try {
    const answer = await call(gateway, "GET", "/files");
    expect(await errorOf(answer)).toMatchObject({ status: 503, code: "no_deployment_available" });
    expect(vendor.received).toHaveLength(0);
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});

test("returns the vendor's 503 with the gateway's own message", async () => {
  const vendor = await startVendor();
  const gateway = await startGranted(vendor);
  try {
    vendor.answer = (_, response) => void response.writeHead(503).end("<html>internal host db-7</html>");
    const answer = await call(gateway, "GET", "/files");
    expect(answer.status).toBe(503);
    expect(await answer.text()).not.toContain("db-7");
    expect(vendor.received).toHaveLength(1);
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});
