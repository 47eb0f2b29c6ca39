import { expect, test } from "bun:test";
import { aliceKey, errorOf } from "../../started-gateway.ts";
import { call, ownGrant, startGranted, startVendor } from "./vendor.ts";

test("applies limits of requests per minute and concurrency", async () => {
  const vendor = await startVendor();
  const keys = [{ name: "alice", secret: aliceKey, pass_through: ["own"], limits: { rpm: 2, concurrency: 1 } }];
  const gateway = await startGranted(vendor, {}, { workspace: { ...ownGrant, keys } });
  try {
    const open = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    vendor.answer = async (_, response) => {
      arrived.resolve();
      await open.promise;
      response.end("{}");
    };
    const first = call(gateway, "GET", "/files");
    await arrived.promise;
    const concurrent = await call(gateway, "GET", "/files");
    expect(await errorOf(concurrent)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    open.resolve();
    expect((await first).status).toBe(200);
    await (await first).text();
    const second = await call(gateway, "GET", "/files");
    expect(second.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    await second.text();
    const third = await call(gateway, "GET", "/files");
    expect(third.headers.get("retry-after")).not.toBeNull();
    expect(await errorOf(third)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    expect(vendor.received).toHaveLength(2);
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});

test("returns the vendor's own 429 unchanged, with Retry-After", async () => {
  const vendor = await startVendor();
  const gateway = await startGranted(vendor);
  try {
    const body = '{ "error": {"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"} }';
    vendor.answer = (_, response) => {
      response.writeHead(429, { "content-type": "application/json", "retry-after": "7" });
      response.end(body);
    };
    const answer = await call(gateway, "POST", "/batches", { body: "{}" });
    expect([answer.status, answer.headers.get("retry-after"), await answer.text()]).toEqual([429, "7", body]);
    expect(vendor.received).toHaveLength(1);
    expect((await gateway.entries())[0]).toMatchObject({ outcome: "failed", httpStatus: 429, upstreamStatus: 429 });
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});
