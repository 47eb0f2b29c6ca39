import { expect, test } from "bun:test";
import { errorOf, hello, startHouse, upstream } from "../../started-house.ts";

const impatient = { connect_ms: 200, headers_ms: 150, first_event_ms: 150, idle_ms: 150, total_ms: 5_000 };
const start = () => startHouse({ providers: (simulator) => [upstream("main", simulator, { timeouts: impatient })] });

test.each([
  ["headers", {}, { latency_ms: 2_000 }],
  ["first_event", { stream: true }, { first_event_ms: 2_000 }],
] as const)("silence before the answer says that it was the %s clock", async (clock, more, script) => {
  const house = await start();
  try {
    const error = await errorOf(await house.chat({ ...hello, ...more }, { script }));
    expect(error).toMatchObject({ status: 504, code: "upstream_timeout" });
    expect(error.message).toContain(clock);
  } finally {
    await house.stop();
  }
});

test("silence inside a stream becomes an error event that says so", async () => {
  const house = await start();
  try {
    const response = await house.chat({ ...hello, stream: true }, { script: { tokens: 9, stall_after_events: 4 } });
    const text = await response.text();
    expect(text).toContain('"code":"upstream_timeout"');
    expect(text).toContain("idle");
    expect(text).not.toContain("[DONE]");
    expect((await house.entries())[0]).toMatchObject({ outcome: "failed", errorCode: "upstream_timeout" });
  } finally {
    await house.stop();
  }
});
