import { expect, test } from "bun:test";
import { aliceKey, errorOf, hello, startGateway } from "../../started-gateway.ts";

test("rejects a key bound to other addresses, ignoring a forwarded address", async () => {
  const gateway = await startGateway({ keys: [{ name: "alice", secret: aliceKey, allowed_ips: ["203.0.113.0/24"] }] });
  try {
    const response = await gateway.chat(hello, { headers: { "x-forwarded-for": "203.0.113.5" } });
    expect(await errorOf(response)).toMatchObject({ status: 403, code: "ip_not_allowed" });
  } finally {
    await gateway.stop();
  }
});

test("accepts a key bound to the caller's address", async () => {
  const gateway = await startGateway({
    keys: [{ name: "alice", secret: aliceKey, allowed_ips: ["127.0.0.0/8", "::1"] }],
  });
  try {
    expect((await gateway.chat(hello, { script: { tokens: 1 } })).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});

test("rejects the keys of a disabled workspace", async () => {
  const gateway = await startGateway({ workspace: { enabled: false } });
  try {
    expect(await errorOf(await gateway.chat(hello))).toMatchObject({ status: 403, code: "forbidden" });
  } finally {
    await gateway.stop();
  }
});
