import { expect, test } from "bun:test";
import { errorOf, hello, startGateway, upstream } from "../../started-gateway.ts";

/** Shortens only one timeout, because on a busy machine any of them may expire first. */
const start = (clock: "headers" | "first_event" | "idle") =>
  startGateway({ providers: (simulator) => [upstream("main", simulator, { timeouts: { [`${clock}_ms`]: 150 } })] });

test.each([
  ["headers", {}, { latency_ms: 600_000 }],
  ["first_event", { stream: true }, { first_event_ms: 600_000 }],
] as const)("names the %s timeout when no answer begins", async (clock, more, script) => {
  const gateway = await start(clock);
  try {
    const error = await errorOf(await gateway.chat({ ...hello, ...more }, { script }));
    expect(error).toMatchObject({ status: 504, code: "upstream_timeout" });
    expect(error.message).toContain(clock);
  } finally {
    await gateway.stop();
  }
});

test("sends an error event that names the idle timeout when a stream stalls", async () => {
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
