import { afterAll, describe, expect, test } from "bun:test";
import { systemClock } from "#system/index.ts";
import { outbound } from "../../test/outbound.ts";
import { type RawUpstream, startRawUpstream } from "../../test/raw-upstream.ts";
import { createTransport } from "./index.ts";

const event = 'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n';
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

const answers = [
  [
    "with a length",
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n{"ok": true}',
    '{"ok": true}',
  ],
  [
    "in chunks",
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk(event)}${chunk(event)}0\r\n\r\n`,
    event + event,
  ],
  [
    "in chunks, after an interim one",
    `HTTP/1.1 103 Hints\r\na: b\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk("a;b")}0\r\nx: y\r\n\r\n`,
    "a;b",
  ],
] as const;

const started: RawUpstream[] = [];
afterAll(() => {
  for (const upstream of started) upstream.stop();
});

/** Every answer, cut at every byte: the bytes before are delivered, and the end is clean only if the answer is complete. */
describe.each(answers)("an answer %s, cut anywhere", (_what, whole, body) => {
  test.each(["closed", "reset"])("with the connection %s, is truncated unless it is complete", async (how) => {
    const upstream = await startRawUpstream((socket, index) => {
      socket.write(whole.slice(0, index), "latin1", () => (how === "closed" ? socket.end() : socket.resetAndDestroy()));
    });
    started.push(upstream);
    const transport = createTransport({ clock: systemClock });
    const headEnd = whole.indexOf("\r\n\r\n", whole.indexOf("200 OK")) + 4;
    for (let cut = 0; cut <= whole.length; cut++) {
      const { text, code } = await answerOf(transport);
      const complete = cut === whole.length;
      expect({ cut, code }).toEqual({
        cut,
        code: complete ? null : cut < headEnd ? "upstream_unreachable" : "upstream_truncated",
      });
      expect(body.startsWith(text)).toBe(true);
      if (complete) expect(text).toBe(body);
    }
    expect(upstream.requests.length).toBe(whole.length + 1);
  });
});

async function answerOf(transport: ReturnType<typeof createTransport>): Promise<{ text: string; code: string | null }> {
  let text = "";
  try {
    return await (async () => {
      const { body } = await transport.send(outbound(started.at(-1)?.url ?? ""), new AbortController().signal);
      for (let piece = await body.read("idle", 60_000); piece !== null; piece = await body.read("idle", 60_000)) {
        text += Buffer.from(piece).toString("latin1");
      }
      return { text, code: null };
    })();
  } catch (thrown) {
    return { text, code: (thrown as { code: string }).code };
  }
}
