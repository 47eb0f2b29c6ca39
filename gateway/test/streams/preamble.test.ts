import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { FakeClock } from "../fake-clock.ts";
import { type RawUpstream, rawAnswer, startRawUpstream } from "../raw-upstream.ts";
import { type StartedGateway, startGateway } from "../started-gateway.ts";
import {
  calls,
  type DialectName,
  dialects,
  overloads,
  type Piece,
  providerAt,
  scripts,
  startScriptedUpstream,
  turns,
} from "./scripted-upstream.ts";

type Upstream = RawUpstream & { script: readonly Piece[] };

let first: Upstream;
let second: Upstream;
let gateway: StartedGateway;
let retryingGateway: StartedGateway;
const callsMax = 160;
let callCount = 0;

beforeAll(async () => {
  [first, second] = await Promise.all([startScriptedUpstream(), startScriptedUpstream()]);
  const overrides = {
    providers: () =>
      dialects.flatMap((dialect) => [
        providerAt(`first-${dialect}`, scripts[dialect].kind, first),
        providerAt(`second-${dialect}`, scripts[dialect].kind, second),
      ]),
    // One model for each call, so that a failure does not change the order of upstreams for the next test.
    models: dialects.flatMap((dialect) =>
      Array.from({ length: callsMax }, (_, index) => ({
        name: `of-${dialect}-${index}`,
        deployments: [
          { provider: `first-${dialect}`, upstream_model: scripts[dialect].upstreamModel, priority: 1 },
          { provider: `second-${dialect}`, upstream_model: scripts[dialect].upstreamModel, priority: 2 },
        ],
        price: { input: 1, output: 10 },
      })),
    ),
  };
  [gateway, retryingGateway] = await Promise.all([
    startGateway(overrides),
    startGateway({ ...overrides, settings: { retry_sent: true } }),
  ]);
});
afterAll(async () => {
  await Promise.all([gateway.stop(), retryingGateway.stop()]);
  first.stop();
  second.stop();
});

const good = (dialect: DialectName): readonly string[] => {
  const { preamble, content, end } = scripts[dialect];
  return [...preamble, content, ...end];
};

/** All pieces in one TCP segment, or each in its own segment. */
const timings = [
  ["in one piece", (pieces: readonly string[]) => [pieces.join("")]],
  ["piece by piece", (pieces: readonly string[]) => pieces],
] as const;

/** Makes a call and returns its answer and the ledger entries of its attempts, first attempt first. */
async function ask(caller: DialectName, upstream: DialectName, at: StartedGateway = gateway) {
  const [path, body] = calls[caller](`of-${upstream}-${callCount++}`);
  const answer = await at.post(path, body, { headers: { "anthropic-version": "2023-06-01" } });
  const text = await answer.text();
  const id = answer.headers.get("x-request-id");
  const entries = (await at.entries()).filter(({ requestId }) => requestId === id).toReversed();
  return { status: answer.status, text, entries };
}

const pairs = dialects.flatMap((upstream) => dialects.map((caller) => [upstream, caller] as const));

describe.each(timings)("a stream that comes %s", (_, cut) => {
  test.each(pairs)(
    "of %s fails over on an overload before the content, for a caller of %s",
    async (upstream, caller) => {
      first.script = cut([...scripts[upstream].preamble, overloads[upstream]]);
      second.script = cut(good(upstream));
      const { status, text, entries } = await ask(caller, upstream);
      expect([status, text.includes("hello"), /overloaded/i.test(text)]).toEqual([200, true, false]);
      expect(entries.map(({ outcome, costNanoUsd }) => [outcome, costNanoUsd])).toEqual([
        ["failed", 0],
        ["succeeded", 5_010_000],
      ]);
    },
  );

  test.each(pairs)("of %s ends with the overload after the content, for a caller of %s", async (upstream, caller) => {
    const { preamble, content } = scripts[upstream];
    first.script = cut([...preamble, content, overloads[upstream]]);
    second.script = cut(good(upstream));
    const { status, text, entries } = await ask(caller, upstream);
    expect([status, text.includes("hello"), /overloaded/i.test(text)]).toEqual([200, true, true]);
    expect(entries.map(({ outcome }) => outcome)).toEqual(["failed"]);
    expect(entries[0]?.usage.output).toBeGreaterThan(0);
    expect(entries[0]?.usageSource).toBe("estimated");
  });

  test.each(dialects)(
    "of %s that is cut before the content is not sent again, and its input is charged",
    async (upstream) => {
      first.script = [...cut([...scripts[upstream].preamble]), null];
      second.script = cut(good(upstream));
      const { status, entries } = await ask(upstream, upstream);
      expect(status).toBe(502);
      expect(entries.map(({ errorCode, usageSource }) => [errorCode, usageSource])).toEqual([
        ["upstream_truncated", "estimated"],
      ]);
      expect(entries[0]?.usage.inputUncached).toBeGreaterThan(0);
    },
  );

  test.each(dialects)("of %s that is cut before the content fails over if retry_sent allows it", async (upstream) => {
    first.script = [...cut([...scripts[upstream].preamble]), null];
    second.script = cut(good(upstream));
    const { status, text, entries } = await ask(upstream, upstream, retryingGateway);
    expect([status, text.includes("hello")]).toEqual([200, true]);
    expect(entries.map(({ outcome }) => outcome)).toEqual(["failed", "succeeded"]);
  });

  test.each(dialects)("of %s without content is delivered completely", async (upstream) => {
    const { preamble, end } = scripts[upstream];
    const pieces = [...preamble, ...end];
    first.script = cut(pieces);
    const { status, text, entries } = await ask(upstream, upstream);
    expect([status, text]).toEqual([200, pieces.join("")]);
    expect(entries.map(({ outcome }) => outcome)).toEqual(["succeeded"]);
  });
});

test.each(dialects)(
  "a model of %s that thinks for a long time before its content is delivered unchanged",
  async (upstream) => {
    const clock = new FakeClock(Date.now());
    const slow = await startGateway({
      clock,
      providers: () => [providerAt("only", scripts[upstream].kind, first)],
      models: [{ name: `of-${upstream}-0`, deployments: [{ provider: "only", upstream_model: "claude-opus-5" }] }],
    });
    const { preamble, content, end } = scripts[upstream];
    const preambleSent = Promise.withResolvers<void>();
    const contentReady = Promise.withResolvers<void>();
    first.script = [...preamble, preambleSent.resolve, () => contentReady.promise, content, ...end];
    const [path, body] = calls[upstream](`of-${upstream}-0`);
    let answered = false;
    const answering = slow.post(path, body, { headers: { "anthropic-version": "2023-06-01" } });
    void answering.then(() => {
      answered = true;
    });
    await preambleSent.promise;
    await turns();
    clock.advance(9_000);
    await turns();
    expect(answered).toBe(false);
    clock.advance(1_000);
    const reader = (await answering).body?.getReader();
    let text = "";
    while (!text.endsWith(preamble.at(-1) ?? "")) text += decoder.decode((await reader?.read())?.value);
    await passMinutes(clock, 8);
    contentReady.resolve();
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
      text += decoder.decode(piece.value);
    }
    expect(withoutKeepAlive(text)).toBe(withoutKeepAlive([...preamble, content, ...end].join("")));
    await slow.stop();
  },
);

describe.each([
  ["is silent", []],
  ["sends only comments", [": processing\n\n", ": processing\n\n"]],
] as const)("a model that %s for a long time after its status line", (_, comments) => {
  test.each(dialects)("begins its answer to the caller of %s before proxies time out", async (upstream) => {
    const clock = new FakeClock(Date.now());
    const slow = await startGateway({
      clock,
      providers: () => [providerAt("only", scripts[upstream].kind, first)],
      models: [{ name: `of-${upstream}-0`, deployments: [{ provider: "only", upstream_model: "claude-opus-5" }] }],
    });
    const { preamble, content, end } = scripts[upstream];
    const preambleSent = Promise.withResolvers<void>();
    const contentReady = Promise.withResolvers<void>();
    first.script = [...comments, preambleSent.resolve, () => contentReady.promise, ...preamble, content, ...end];
    const [path, body] = calls[upstream](`of-${upstream}-0`);
    let answered = false;
    const answering = slow.post(path, body, { headers: { "anthropic-version": "2023-06-01" } });
    void answering.then(() => {
      answered = true;
    });
    await preambleSent.promise;
    await turns();
    clock.advance(44_000);
    await turns();
    expect(answered).toBe(false);
    clock.advance(1_000);
    const reading = (await answering).text();
    await passMinutes(clock, 8);
    contentReady.resolve();
    const pieces = [...comments, ...preamble, content, ...end];
    expect(withoutKeepAlive(await reading)).toBe(withoutKeepAlive(pieces.join("")));
    await slow.stop();
  });
});

test("delivers a stream whose status line arrives after eight minutes", async () => {
  const clock = new FakeClock(Date.now());
  const connected = Promise.withResolvers<Socket>();
  const lateUpstream = await startRawUpstream((socket) => connected.resolve(socket));
  const slow = await startGateway({
    clock,
    providers: () => [providerAt("only", "openai-compatible", lateUpstream)],
    models: [{ name: "m", deployments: [{ provider: "only" }] }],
  });
  const [path, body] = calls.chat("m");
  const answering = slow.post(path, body);
  const socket = await connected.promise;
  await passMinutes(clock, 8);
  const events = good("chat").join("");
  socket.write(rawAnswer(events, "content-type: text/event-stream\r\n"));
  expect(await (await answering).text()).toBe(events);
  await slow.stop();
  lateUpstream.stop();
});

async function passMinutes(clock: FakeClock, minutes: number): Promise<void> {
  for (let quarter = 0; quarter < 4 * minutes; quarter++) {
    await turns();
    clock.advance(15_000);
  }
}

function withoutKeepAlive(text: string): string {
  return text.replaceAll(/: keep-alive\n\n|event: ping\ndata: .*\n\n/g, "");
}

const decoder = new TextDecoder();
