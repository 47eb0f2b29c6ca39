import { expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { call, startGranted, startVendor } from "./vendor.ts";

test("aborts the vendor's request when the caller disconnects, before and during the answer", async () => {
  const vendor = await startVendor();
  const gateway = await startGranted(vendor, { settings: { pass_through: { price_per_call: 0.5 } } });
  try {
    let closed = 0;
    vendor.answer = (_, response) => void response.on("close", () => closed++);
    const early = new AbortController();
    const waiting = call(gateway, "GET", "/files", { signal: early.signal }).catch(() => null);
    await until(() => vendor.received.length === 1);
    early.abort();
    await waiting;
    await until(() => closed === 1);
    vendor.answer = (_, response) => {
      response.on("close", () => closed++);
      response.writeHead(200, { "content-type": "application/octet-stream" });
      response.write("some");
    };
    const late = new AbortController();
    const answer = await call(gateway, "GET", "/files/file-1/content", { signal: late.signal });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    late.abort();
    await until(() => closed === 2);
    await until(async () => (await gateway.entries()).length === 2);
    for (const entry of await gateway.entries()) {
      // Both requests were sent, so the vendor may charge them.
      expect(entry).toMatchObject({ outcome: "cancelled", errorCode: "client_closed", costNanoUsd: 500_000_000 });
    }
    expect(vendor.received).toHaveLength(2);
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});
