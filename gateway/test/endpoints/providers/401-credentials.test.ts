import { expect, test } from "bun:test";
import { errorOf } from "../../started-gateway.ts";
import { startGranted, startVendor } from "./vendor.ts";

test("returns 401 without a key and with an unknown key, for any path", async () => {
  const vendor = await startVendor();
  const gateway = await startGranted(vendor);
  try {
    for (const headers of [{}, { authorization: "Bearer sk-unknown-0123456789abcdefghij" }] as Record<
      string,
      string
    >[]) {
      for (const path of ["/own/files", "/none/files", "/own/organization/users"]) {
        const answer = await fetch(`${gateway.url}/v1/providers${path}`, { headers });
        expect(await errorOf(answer)).toMatchObject({ status: 401, code: "invalid_api_key" });
      }
    }
    const claude = await fetch(`${gateway.url}/v1/providers/own/files`, {
      headers: { "anthropic-version": "2023-06-01" },
    });
    expect(await claude.json()).toMatchObject({ type: "error", error: { type: "authentication_error" } });
    expect(vendor.received).toHaveLength(0);
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});
