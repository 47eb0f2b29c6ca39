import { expect, test } from "bun:test";
import { errorOf } from "../../started-gateway.ts";
import { call, startGranted, startVendor } from "./vendor.ts";

test("returns 504 and charges the price per call when no answer begins", async () => {
  const vendor = await startVendor();
  const settings = { pass_through: { price_per_call: 0.25 } };
  const gateway = await startGranted(vendor, { settings, timeouts: { headers_ms: 150, total_ms: 4_000 } });
  try {
    vendor.answer = () => {};
    const answer = await call(gateway, "POST", "/batches", { body: "{}" });
    expect(await errorOf(answer)).toMatchObject({ status: 504, code: "upstream_timeout" });
    expect(vendor.received).toHaveLength(1);
    expect((await gateway.entries())[0]).toMatchObject({
      outcome: "failed",
      errorCode: "upstream_timeout",
      usage: { chargedRequests: 1 },
      usageSource: "estimated",
      costNanoUsd: 250_000_000,
    });
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});

test("ends an answer that stalls", async () => {
  const vendor = await startVendor();
  const gateway = await startGranted(vendor, { timeouts: { idle_ms: 150, total_ms: 60_000 } });
  try {
    vendor.answer = (_, response) => {
      response.writeHead(200, { "content-type": "application/octet-stream" });
      response.write("some");
    };
    const answer = await call(gateway, "GET", "/files/file-1/content");
    expect(
      await answer.text().then(
        () => "whole",
        () => "broken",
      ),
    ).toBe("broken");
    expect((await gateway.entries())[0]).toMatchObject({ outcome: "failed", errorCode: "upstream_timeout" });
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});
