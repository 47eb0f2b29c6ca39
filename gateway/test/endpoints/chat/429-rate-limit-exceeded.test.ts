import { expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { aliceKey, errorOf, hello, startGateway } from "../../started-gateway.ts";

test("admits exactly N of many concurrent calls when the limit is N calls per minute", async () => {
  const gateway = await startGateway({ keys: [{ name: "alice", secret: aliceKey, limits: { rpm: 7 } }] });
  try {
    const calls = Array.from({ length: 30 }, () => gateway.chat(hello, { script: { tokens: 1 } }));
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(7);
    const refused = answers.find((answer) => answer.status === 429);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused?.headers.get("x-ratelimit-limit-requests")).toBe("7");
    expect(refused?.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    const { error } = (await (refused ?? Response.error()).json()) as { error: Record<string, unknown> };
    expect(error).toMatchObject({ code: "rate_limit_exceeded", limit: 7, used: 7 });
    expect(error["scope"]).toContain("rpm");
    const admitted = answers.find((answer) => answer.status === 200);
    expect(admitted?.headers.get("x-ratelimit-limit-requests")).toBe("7");
  } finally {
    await gateway.stop();
  }
});

test("applies the lowest limit of workspace, group and key", async () => {
  const gateway = await startGateway({
    workspace: { limits: { rpm: 3 }, groups: [{ name: "default", limits: { rpm: 50 } }] },
    keys: [{ name: "alice", secret: aliceKey, limits: { rpm: 40 } }],
  });
  try {
    const answers = await Promise.all(Array.from({ length: 9 }, () => gateway.chat(hello, { script: { tokens: 1 } })));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(3);
  } finally {
    await gateway.stop();
  }
});

test("frees a place of the concurrency limit when a call ends, however it ends", async () => {
  const gateway = await startGateway({ keys: [{ name: "alice", secret: aliceKey, limits: { concurrency: 2 } }] });
  try {
    const disconnect = new AbortController();
    const slow = [1, 2].map(() =>
      gateway
        .chat(hello, { script: { latency_ms: 600_000, tokens: 1 }, signal: disconnect.signal })
        .catch(() => "left"),
    );
    await until(() => gateway.simulator.simulator.truth.list().in_flight === 2);
    expect((await gateway.chat(hello)).status).toBe(429);
    disconnect.abort();
    expect(await Promise.all(slow)).toEqual(["left", "left"]);
    await until(() => gateway.gateway.outstanding() === 0);
    for (let call = 0; call < 3; call++) expect((await gateway.chat(hello)).status).toBe(200);
    expect((await gateway.chat(hello, { script: { status: 400 } })).status).toBe(400);
    expect((await gateway.chat(hello, { script: { tokens: 1 } })).status).toBe(200);
    expect(gateway.gateway.outstanding()).toBe(0);
  } finally {
    await gateway.stop();
  }
});

test("returns an upstream's 429 unchanged when no other deployment can serve", async () => {
  const gateway = await startGateway();
  try {
    const response = await gateway.chat(hello, { script: { status: 429, retry_after: 30 } });
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBe("30");
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).not.toContain("key acme");
  } finally {
    await gateway.stop();
  }
});

test.each([
  ["rpm", { rpm: 1 }, 429, "rate_limit_exceeded"],
  ["tpm", { tpm: 1 }, 429, "rate_limit_exceeded"],
])("rejects a caller at its %s limit before reading a large body", async (_name, limits, status, code) => {
  const gateway = await startGateway({ keys: [{ name: "alice", secret: aliceKey, limits }] });
  try {
    expect((await gateway.chat(hello, { script: { tokens: 1 } })).status).toBe(200);
    // Neither valid JSON nor valid gzip, so an error about either would prove that the body was read.
    const unreadable = new Uint8Array(300_000);
    for (const headers of [{}, { "content-encoding": "gzip" }]) {
      const refused = await gateway.chat(unreadable, { headers });
      expect(refused.headers.get("retry-after")).not.toBeNull();
      expect(await errorOf(refused)).toMatchObject({ status, code });
    }
    const entries = await gateway.entries();
    expect(entries.filter(({ errorCode }) => errorCode === code)).toHaveLength(2);
    expect(gateway.gateway.outstanding()).toBe(0);
  } finally {
    await gateway.stop();
  }
});
