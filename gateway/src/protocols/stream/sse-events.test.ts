import { expect, test } from "bun:test";
import fc from "fast-check";
import { leastCpuMs } from "../../../../test/processor-time.ts";
import { eventData, SseEvents } from "./sse-events.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface Edit {
  readonly events: readonly string[];
  readonly passed: string;
  readonly held: string;
}

function cut(text: string, sizes: readonly number[]): Edit {
  const sse = new SseEvents(1_000_000);
  const bytes = encoder.encode(text);
  const events: string[] = [];
  const passed: Uint8Array[] = [];
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    passed.push(
      sse.push(bytes.subarray(at, at + size), (whole, start, end) =>
        events.push(decoder.decode(whole.subarray(start, end))),
      ),
    );
    at += size;
  }
  return { events, passed: decoder.decode(Buffer.concat(passed)), held: decoder.decode(sse.held) };
}

test("finds the same events for any chunking and never overwrites returned bytes", () => {
  // A number means a line of that length.
  const line = fc.oneof(fc.constantFrom("data: x", ": c", "", "event: y"), fc.nat({ max: 40_000 }));
  const lines = fc.array(line, { maxLength: 12 });
  const sizes = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(lines, fc.constantFrom("\n", "\r\n", "\r"), sizes, (parts, end, cuts) => {
      const written = parts.map((part) => (typeof part === "number" ? "z".repeat(part) : part));
      const whole = `${written.join(end)}${end}${end}data: last\n\n`;
      const plain = cut(whole, []);
      expect(plain.events.join("") + plain.held === whole).toBe(true);
      expect(Bun.deepEquals(cut(whole, [...cuts, 20_000]), plain)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

test("takes an event of sixteen megabytes in small pieces with few copies", () => {
  const piece = new Uint8Array(1024).fill(0x41);
  let size = 0;
  const cpuMs = leastCpuMs(() => {
    const sse = new SseEvents(32 * 1024 * 1024);
    for (let count = 0; count < 16 * 1024; count++) sse.push(piece, () => {});
    sse.push(encoder.encode("\n\n"), (_, from, to) => {
      size = to - from;
    });
  });
  expect(size).toBe(16 * 1024 * 1024 + 2);
  // A copy for each piece would be a hundred gigabytes to copy.
  expect(cpuMs).toBeLessThan(2_000);
});

test("rejects an event beyond the bound", () => {
  const sse = new SseEvents(10);
  sse.push(encoder.encode("data: 1234"), () => {});
  expect(() => sse.push(encoder.encode("5"), () => {})).toThrow("more than 10 bytes");
});

test("reads the data of a large event like that of a small one", () => {
  const line = fc.stringMatching(/^[a-zé\u{1F600}: ]*$/u);
  fc.assert(
    fc.property(fc.array(line), fc.constantFrom("\n", "\r\n", "\r"), (lines, lineEnd) => {
      const event = (more: string): Uint8Array =>
        encoder.encode(
          ["event: x", ": a comment", ...lines.map((text) => `data: ${text}`), `data:${more}`, "", ""].join(lineEnd),
        );
      const [small, large] = [event("z"), event("z".repeat(20_000))];
      const whole = eventData(large, 0, large.length);
      expect(whole).toBe(eventData(small, 0, small.length) + "z".repeat(19_999));
    }),
    { numRuns: 60 },
  );
});
