import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import type { OutboundAnswer, OutboundStream } from "#ports/index.ts";
import { systemClock } from "#system/index.ts";
import { outbound } from "../../test/outbound.ts";
import { rawAnswer, startRawUpstream } from "../../test/raw-upstream.ts";
import { createTransport } from "./index.ts";

const bodyBytes = 512 * 1024;
const calls = 24;

test("a request body is released while its answer streams", async () => {
  const event = "data: {}\n\n";
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  const upstream = await startRawUpstream((socket) => socket.write(`${head}a\r\n${event}\r\n`));
  const transport = createTransport({ clock: systemClock });
  const sent: WeakRef<Uint8Array>[] = [];
  const send = async (): Promise<OutboundAnswer> => {
    const body = new Uint8Array(bodyBytes);
    sent.push(new WeakRef(body));
    const waits = { connectMs: 60_000, headersMs: 60_000, totalMs: 600_000, allowPrivateNetwork: true };
    const request = {
      method: "POST" as const,
      url: `${upstream.url}/v1/chat/completions`,
      headers: {},
      body,
      ...waits,
    };
    const answer = await transport.send(request, new AbortController().signal);
    await answer.body.read("first_event", 60_000);
    return answer;
  };
  const answers: OutboundAnswer[] = [];
  for (let call = 0; call < calls; call++) answers.push(await send());
  // A weak reference keeps its target alive until the turn of the event loop ends.
  await new Promise((resolve) => setImmediate(resolve));
  Bun.gc(true);
  // The collector treats any word on the stack that looks like a reference as one.
  expect(sent.filter((body) => body.deref() !== undefined).length).toBeLessThan(calls / 4);
  for (const { body } of answers) body.cancel();
  upstream.stop();
});

test("a long body is sent in bounded parts per turn of the event loop", async () => {
  let turn = 0;
  let stand = setImmediate(function next() {
    turn++;
    stand = setImmediate(next);
  });
  const pulledIn = new Map<number, number>();
  const size = 8 * bounds.sendTurnBytes;
  const piece = new Uint8Array(bounds.sendPieceBytes);
  const body: OutboundStream = {
    size,
    open() {
      let at = 0;
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        if (at === size) {
          controller.close();
          return;
        }
        at += piece.length;
        pulledIn.set(turn, (pulledIn.get(turn) ?? 0) + piece.length);
        controller.enqueue(piece);
      };
      return new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 });
    },
  };
  const upstream = await startRawUpstream((socket) => socket.write(rawAnswer("ok")));
  const transport = createTransport({ clock: systemClock });
  const answer = await transport.send(outbound(upstream.url, { body }), new AbortController().signal);
  await answer.body.readAll(10, "idle", 60_000);
  clearImmediate(stand);
  upstream.stop();
  expect(Math.max(...pulledIn.values())).toBeLessThanOrEqual(bounds.sendTurnBytes + piece.length);
});
