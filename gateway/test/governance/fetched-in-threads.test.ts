import { expect, test } from "bun:test";
import { doBodyJob, type WorkOrder } from "#bodies/index.ts";
import type { Offload, OutboundRequest, Transport } from "#ports/index.ts";
import { anthropicMessagesCodec } from "#protocols/index.ts";
import { callWith, messages, noise } from "../abnormal-ends/relay-fixture.ts";
import { transportOf } from "../sending-transport.ts";

const address = "https://pictures.example/a.png";
const answerText = (count: number): string => {
  const picture = { type: "image", source: { type: "url", url: address } };
  return JSON.stringify({
    model: messages().model.name,
    max_tokens: 9,
    messages: [{ role: "user", content: Array.from({ length: count }, () => picture) }],
  });
};

/** An outbound transport with one picture, and the upstream behind it. */
function withPicture(bytes: Uint8Array, sent: OutboundRequest[]) {
  return (upstream: Transport): Transport =>
    transportOf(async (request, signal) => {
      if (request.url !== address) {
        sent.push(request);
        return upstream.send(request, signal);
      }
      const body = { read: async () => null, readAll: async () => bytes, cancel: () => {} };
      return { status: 200, headers: new Headers({ "content-type": "image/png" }), body };
    });
}

test.each([
  ["a large picture is inserted into a small body in a worker thread", 1_000_000, 1],
  ["a small one on the main thread", 1_000, 0],
])("%s", async (_title, size, threads) => {
  const orders: string[] = [];
  const offload: Offload = {
    run: async (order) => {
      const { kind } = order as WorkOrder;
      orders.push(kind);
      return doBodyJob(order as WorkOrder, { newId: (prefix) => prefix });
    },
    close: async () => {},
  };
  const sent: OutboundRequest[] = [];
  const bytes = new Uint8Array(size).fill(7);
  const { received, left } = await callWith(anthropicMessagesCodec, false, noise, {
    body: answerText(2),
    offload,
    transport: withPicture(bytes, sent),
  });
  expect(received).toContain('"type":"message"');
  expect(left).toEqual([0, 0, 0, 0, 0]);
  const inBase64 = `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
  const body = new TextDecoder().decode(sent.at(-1)?.body as Uint8Array);
  expect(body.split(inBase64)).toHaveLength(3);
  expect(orders.filter((kind) => kind === "translate")).toHaveLength(threads);
});
