import { expect, test } from "bun:test";
import { errorOf } from "../../started-gateway.ts";
import { call, startGranted, startVendor } from "./vendor.ts";

test("returns 426 for a WebSocket without calling the vendor", async () => {
  const vendor = await startVendor();
  const gateway = await startGranted(vendor);
  try {
    const headers = {
      upgrade: "websocket",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version": "13",
    };
    const answer = await call(gateway, "GET", "/realtime?model=gpt-realtime", { headers });
    expect(await errorOf(answer)).toMatchObject({ status: 426, code: "websocket_unavailable" });
    expect(vendor.received).toHaveLength(0);
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});
