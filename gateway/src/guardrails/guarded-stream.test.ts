import { expect, test } from "bun:test";
import { type Guardrail, type LiveBody, readableOf } from "#core/index.ts";
import { textsOf } from "#protocols/index.ts";
import { CallGuard } from "./call-guard.ts";
import { GuardedStream } from "./guarded-stream.ts";
import { inspectBody } from "./inspect-body.ts";
import { sideOf } from "./policy.ts";

function guardrail(more: Partial<Guardrail>): Guardrail {
  return {
    ...{ id: "grl_1", name: "keys", workspaceId: null, workspaces: [], groups: [], keys: [], on: ["output"], at: null },
    ...{ check: { kind: "credentials" }, action: "block", onError: "block", unreadable: "pass", stream: "window" },
    ...{ timeoutMs: 2_000, enforce: true },
    ...more,
  };
}

/** Events that a body passes on when it is pulled. */
class Events implements LiveBody {
  pulled = 0;
  isCanceled = false;
  readonly #events: readonly string[];

  constructor(events: readonly string[]) {
    this.#events = events;
  }

  pull(...[sink, answered]: Parameters<LiveBody["pull"]>): void {
    const event = this.#events[this.pulled++];
    if (event === undefined) sink.close();
    else sink.enqueue(Buffer.from(event));
    answered();
  }

  cancel(): void {
    this.isCanceled = true;
  }
}

type Options = ConstructorParameters<typeof CallGuard>[0];

const asksNothing: Options["remote"] = () => Promise.reject(new Error("nothing is asked"));

function streamOf(body: LiveBody, rule: Guardrail, cpuMs: () => number, remote = asksNothing) {
  const side = sideOf([rule]);
  const guard = new CallGuard({
    policy: { input: sideOf([]), output: side },
    secret: () => "secret",
    nowMs: () => 0,
    cpuMs,
    checkMsMax: () => 20,
    remote,
    inspectLarge: (ask, bytes) => Promise.resolve({ body: bytes, outcome: inspectBody(bytes, ask) }),
    onRecords() {},
  } as Options);
  const errorEvent = () => Buffer.from("event: error\n\n");
  return readableOf(
    new GuardedStream({ guard, body, shape: textsOf("openai-chat").stream, keepAlive: ": ping\n\n", errorEvent }),
  );
}

const event = (content: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

test.each(["block", "pass"] as const)("applies on_error to a piece that takes too long: %s", async (onError) => {
  const events = ["one ", `${"two ".repeat(2_000)}`, "three "].map(event);
  const body = new Events(events);
  let now = 0;
  const text = await new Response(streamOf(body, guardrail({ onError }), () => (now += 25))).text();
  if (onError === "pass") expect([text, body.isCanceled]).toEqual([events.join(""), false]);
  else expect([text, body.isCanceled]).toEqual([`${events[0]}event: error\n\n`, true]);
});

test.each([4_200, 100])(
  "sends an answer once if its check fails after %d characters that a webhook masks",
  async (length) => {
    const events = ["Jane ".repeat(length / 5), "two ".repeat(2_000), "three "].map(event);
    const body = new Events(events);
    let now = 0;
    const masksNames: Options["remote"] = async (_rule, texts) => ({
      types: ["name"],
      masks: new Map(texts.map((_text, index) => [index, [{ start: 0, end: 4, type: "name" }]])),
    });
    const check = { kind: "webhook", url: "https://judge.example/check", secret: "a secret of 16 characters" } as const;
    const rule = guardrail({ check, action: "mask", onError: "pass" });
    const stream = streamOf(
      body,
      rule,
      () => {
        if (body.pulled > 1) now += 25;
        return now;
      },
      masksNames,
    );
    expect(await new Response(stream).text()).toBe(events.join(""));
  },
);

test("pulls no further than its reader, and everything at once if it holds the answer", async () => {
  const events = Array.from({ length: 100 }, (_, index) => event(`${index} words. `));
  for (const stream of ["window", "whole"] as const) {
    const body = new Events(events);
    const reader = streamOf(body, guardrail({ stream }), () => 0).getReader();
    const first = await reader.read();
    if (stream === "window") expect(body.pulled).toBeLessThan(5);
    else expect(body.pulled).toBeGreaterThan(100);
    const pieces = [first.value ?? new Uint8Array(0)];
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      pieces.push(value);
    }
    expect(Buffer.concat(pieces).toString()).toBe(events.join(""));
  }
});
