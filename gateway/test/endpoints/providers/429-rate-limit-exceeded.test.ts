import { expect, test } from "bun:test";
import { aliceKey, errorOf } from "../../started-gateway.ts";
import { call, granted, startGranted, startVendor } from "./vendor.ts";

test("requests per minute and concurrency hold as for every call", async () => {
  const vendor = await startVendor();
  const keys = [{ name: "alice", secret: aliceKey, pass_through: ["own"], limits: { rpm: 2, concurrency: 1 } }];
  const gateway = await startGranted(vendor, {}, { workspace: { ...granted, keys } });
  try {
    const open = Promise.withResolvers<void>();
    const came = Promise.withResolvers<void>();
    vendor.answer = async (_, response) => {
      came.resolve();
      await open.promise;
      response.end("{}");
    };
    const first = call(gateway, "GET", "/files");
    await came.promise;
    const beside = await call(gateway, "GET", "/files");
    expect(await errorOf(beside)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
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

test("the vendor's own refusals come back as it said them, with how long to wait", async () => {
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
