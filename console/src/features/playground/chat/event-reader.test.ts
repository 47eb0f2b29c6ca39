import { expect, test } from "bun:test";
import { readEvents } from "./event-reader.ts";

const text = 'data: {"a":1}\r\n\r\n: keep-alive\n\nevent: x\ndata: é…\ndata:two\n\ndata: [DONE]\n\ndata: half';

async function eventsOf(size: number): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  const events: string[] = [];
  for await (const event of readEvents(body)) events.push(event);
  return events;
}

test("events are parsed at any network chunking, and an incomplete event is dropped", async () => {
  for (const size of [1, 2, 3, 7, 1_000]) {
    expect(await eventsOf(size)).toEqual(['{"a":1}', "é…\ntwo", "[DONE]"]);
  }
});
