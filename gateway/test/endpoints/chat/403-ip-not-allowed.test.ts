import { expect, test } from "bun:test";
import { aliceKey, errorOf, hello, startHouse } from "../../started-house.ts";

test("a key bound to other addresses is refused, and a forwarded address does not help", async () => {
  const house = await startHouse({ keys: [{ name: "alice", secret: aliceKey, allowed_ips: ["203.0.113.0/24"] }] });
  try {
    const response = await house.chat(hello, { headers: { "x-forwarded-for": "203.0.113.5" } });
    expect(await errorOf(response)).toMatchObject({ status: 403, code: "ip_not_allowed" });
  } finally {
    await house.stop();
  }
});

test("a key bound to the caller's own address is let in", async () => {
  const house = await startHouse({ keys: [{ name: "alice", secret: aliceKey, allowed_ips: ["127.0.0.0/8", "::1"] }] });
  try {
    expect((await house.chat(hello, { script: { tokens: 1 } })).status).toBe(200);
  } finally {
    await house.stop();
  }
});

test("the keys of a disabled workspace are refused", async () => {
  const house = await startHouse({ workspace: { enabled: false } });
  try {
    expect(await errorOf(await house.chat(hello))).toMatchObject({ status: 403, code: "forbidden" });
  } finally {
    await house.stop();
  }
});
