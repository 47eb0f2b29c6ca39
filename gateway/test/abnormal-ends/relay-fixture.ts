import { createMemoryCounter } from "#coordination/index.ts";
import { type Model, readableOf } from "#core/index.ts";
import { Admission } from "#limits/index.ts";
import type { Observer, Offload, Transport } from "#ports/index.ts";
import type { CallerCodec } from "#protocols/index.ts";
import { wireCalls } from "../../src/main/open-calls.ts";
import { quietCallParts } from "../call-parts.ts";
import { FakeClock } from "../fake-clock.ts";
import { quietConfigSnapshot } from "../quiet-config-snapshot.ts";
import { type CallPattern, callPatterns } from "../simulation/call-patterns.ts";
import { governedPrincipal } from "../simulation/governed-principal.ts";
import { JournalInMemory } from "../simulation/journal-in-memory.ts";
import { SimulatedUpstream } from "../simulation/simulated-upstream.ts";

export const noise: Observer = {
  log: () => {},
  attemptEnd: () => {},
  requestEnd: () => {},
  breakerChange: () => {},
  configReload: () => {},
};
const principal = governedPrincipal({ key: { limits: { concurrency: 100 } } });
const pattern = callPatterns.find(({ protocol }) => protocol.endpoint === "messages");

export function messages(): CallPattern {
  if (pattern === undefined) throw new Error("no such pattern");
  return pattern;
}

export interface RelayChanges {
  readonly body?: string;
  readonly offload?: Offload;
  readonly transport?: (upstream: Transport) => Transport;
  readonly journal?: JournalInMemory;
  readonly model?: Model;
}

/** A call through a relay with an upstream that always succeeds. */
export async function callWith(
  codec: CallerCodec,
  stream: boolean,
  observer: Observer = noise,
  changes: RelayChanges = {},
) {
  const clock = new FakeClock();
  // Time 0 means that nothing was sent.
  clock.advance(1);
  const chance = { unit: () => 0.5 };
  let count = 0;
  const ids = { next: (prefix: string) => `${prefix}${++count}` };
  const { journal = new JournalInMemory() } = changes;
  const counter = createMemoryCounter({ clock });
  const upstream = new SimulatedUpstream(clock, chance);
  const transport = changes.transport?.(upstream) ?? upstream;
  const { protocol, model, body } = messages();
  const configSnapshot = quietConfigSnapshot();
  const { relay, router } = wireCalls({
    ...quietCallParts(),
    configSnapshot: () => configSnapshot,
    admission: new Admission({ counter, clock }),
    steady: clock,
    ...{ journal, transport, ids, clock, chance, observer },
    offload: changes.offload ?? null,
  });
  let sent = 0;
  upstream.onSend = () => sent++;
  const bytes = new TextEncoder().encode(changes.body ?? body(stream, false));
  const received = (async () => {
    const result = await relay.run({
      requestId: "req",
      principal,
      mayCall: () => true,
      protocol: { ...protocol, codec },
      facts: protocol.wire.readRequest(bytes, null),
      body: bytes,
      marks: null,
      query: "",
      headers: new Headers(),
      models: [changes.model ?? model],
      signal: new AbortController().signal,
      startedMs: 0,
      bodyWaitMs: 0,
      userAgent: "",
      tags: {},
      session: null,
      streamEnd: () => {},
    });
    if ("failure" in result) return result.failure.code;
    const { body } = result;
    return new Response(body instanceof Uint8Array ? body : readableOf(body)).text().catch(() => "cut");
  })();
  let over = false;
  void received.finally(() => {
    over = true;
  });
  for (let turn = 0; !over && turn < 1_000; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(20);
  }
  const inFlight = router.states().reduce((sum, state) => sum + state.inFlight, 0);
  const breakers = router.states().map(({ breaker }) => breaker);
  return {
    received: await received,
    sent,
    left: [journal.open.size, counter.outstanding, inFlight, upstream.openStreams, relay.liveStreams],
    breakers: new Set(breakers),
    entries: journal.entries.map(({ outcome, errorCode, usage }) => [outcome, errorCode, usage.output > 0]),
    faults: journal.faults,
  };
}
