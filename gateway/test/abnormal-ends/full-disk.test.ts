import { expect, test } from "bun:test";
import { Failure, type Intent } from "#core/index.ts";
import type { Observer, OutboundAnswer, Transport } from "#ports/index.ts";
import { transportOf } from "../sending-transport.ts";
import { JournalInMemory } from "../simulation/journal-in-memory.ts";
import { callWith, messages, noise } from "./relay-fixture.ts";

/** The disk is full after the first attempt: it ends, and no other begins. */
class FullJournal extends JournalInMemory {
  #begun = 0;

  override intent(intent: Intent): void {
    if (this.#begun++ > 0) throw new Failure("ledger_unavailable", "The disk is full.");
    super.intent(intent);
  }
}

const iterations = [
  { type: "message", input_tokens: 100, output_tokens: 10 },
  { type: "advisor_message", model: "another", input_tokens: 800, output_tokens: 90 },
];
const usage = { input_tokens: 100, output_tokens: 10, iterations };
const message = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn", usage };
const content = [{ type: "text", text: "advised" }];

function advised(): OutboundAnswer {
  const bytes = new TextEncoder().encode(JSON.stringify({ ...message, content }));
  const body = { read: async () => null, readAll: async () => bytes, cancel: () => {} };
  return { status: 200, headers: new Headers({ "content-type": "application/json" }), body };
}

async function advisedCall(journal: JournalInMemory, observer: Observer) {
  const transport = () => transportOf(async () => advised());
  const { model, protocol } = messages();
  const [one] = model.deployments;
  if (one === undefined || protocol.codec === null) throw new Error("the model has no deployment or no codec");
  const provider = { ...one.provider, kind: "anthropic", settings: {} };
  const changes = { journal, transport, model: { ...model, deployments: [{ ...one, provider }] } };
  return await callWith(protocol.codec, false, observer, changes);
}

test("stores the usage of other models within an answer although the disk is full by then", async () => {
  const journal = new FullJournal();
  const { received, left } = await advisedCall(journal, noise);
  expect(received).toContain("advised");
  expect(left).toEqual([0, 0, 0, 0, 0]);
  expect(journal.entries.map(({ retryIndex, usage: { output } }) => [retryIndex, output]).toSorted()).toEqual([
    [0, 10],
    [1, 90],
  ]);
});

test("settles the call's own entry even if the adviser's entry fails", async () => {
  const journal = new JournalInMemory();
  const attemptEnd = (): never => {
    throw new TypeError("undefined is not an object");
  };
  const { left } = await advisedCall(journal, { ...noise, attemptEnd });
  expect(left).toEqual([0, 0, 0, 0, 0]);
  expect(journal.entries.map(({ retryIndex }) => retryIndex).toSorted()).toEqual([0, 1]);
});

/** The disk is full when the records of the turn are written. */
class UnwritableJournal extends JournalInMemory {
  override flush(): boolean {
    return false;
  }
}

test.each([false, true])("sends and charges nothing if the intent cannot be written; streamed: %p", async (stream) => {
  const { codec } = messages().protocol;
  if (codec === null) throw new Error("the protocol has no codec");
  const journal = new UnwritableJournal();
  const transport = (upstream: Transport) =>
    transportOf(async (request, signal) => {
      request.beforeSending?.();
      return await upstream.send(request, signal);
    });
  const { received, sent, left, breakers } = await callWith(codec, stream, noise, { journal, transport });
  expect([received, sent, left]).toEqual(["ledger_unavailable", 0, [0, 0, 0, 0, 0]]);
  expect(
    journal.entries.map(({ errorCode, usageSource, costNanoUsd }) => [errorCode, usageSource, costNanoUsd]),
  ).toEqual([["ledger_unavailable", "none", 0]]);
  expect([...breakers]).toEqual(["closed"]);
});
