import { expect, test } from "bun:test";
import { errorOf, hello, startGateway, upstream } from "../../started-gateway.ts";

/** One clock alone is short: on a busy machine any of them may run out first. */
const start = (clock: "headers" | "first_event" | "idle") =>
  startGateway({ providers: (simulator) => [upstream("main", simulator, { timeouts: { [`${clock}_ms`]: 150 } })] });

test.each([
  ["headers", {}, { latency_ms: 600_000 }],
  ["first_event", { stream: true }, { first_event_ms: 600_000 }],
] as const)("silence before the answer says that it was the %s clock", async (clock, more, script) => {
  const gateway = await start(clock);
  try {
    const error = await errorOf(await gateway.chat({ ...hello, ...more }, { script }));
    expect(error).toMatchObject({ status: 504, code: "upstream_timeout" });
    expect(error.message).toContain(clock);
  } finally {
    await gateway.stop();
  }
});

test("silence inside a stream becomes an error event that says so", async () => {
  const gateway = await start("idle");
  try {
    const response = await gateway.chat({ ...hello, stream: true }, { script: { tokens: 9, stall_after_events: 4 } });
    const text = await response.text();
    expect(text).toContain('"code":"upstream_timeout"');
    expect(text).toContain("idle");
    expect(text).not.toContain("[DONE]");
    expect((await gateway.entries())[0]).toMatchObject({ outcome: "failed", errorCode: "upstream_timeout" });
  } finally {
    await gateway.stop();
  }
});
