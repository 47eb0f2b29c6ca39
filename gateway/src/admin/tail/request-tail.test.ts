import { expect, test } from "bun:test";
import { bounds, Failure, type LedgerEntry, noUsage } from "#core/index.ts";
import type { Observer } from "#ports/index.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { RequestTail } from "./request-tail.ts";

const scope = (id: string) => ({ kind: "workspace" as const, id, label: id, limits: {}, budget: null });
const workspace = (id: string, slug: string) => ({
  id,
  slug,
  name: slug,
  models: [],
  passThrough: [],
  scope: scope(id),
  enabled: true,
});

function openTail() {
  const clock = new FakeClock();
  const seen: string[] = [];
  let keyReads = 0;
  const tail = new RequestTail({
    clock,
    people: {
      user: async (id) =>
        ({ id, email: `${id}@example.com`, name: "" }) as Awaited<ReturnType<RequestTailPeople["user"]>>,
    },
    controlStore: {
      async keyById(id) {
        keyReads++;
        if (id === "key_broken") throw new Error("the database is away");
        return { name: `name of ${id}` } as Awaited<ReturnType<RequestTailKeys["keyById"]>>;
      },
    },
    configSnapshot: () => ({
      guardrails: [],
      budgetPolicies: [],
      workspaces: new Map([
        ["ws_1", workspace("ws_1", "acme")],
        ["ws_2", workspace("ws_2", "other")],
      ]),
      groups: new Map([
        [
          "grp_1",
          { id: "grp_1", workspaceId: "ws_1", name: "default", models: [], passThrough: [], scope: scope("g") },
        ],
      ]),
      version: 1,
      providers: new Map(),
      models: new Map(),
      settings: {} as never,
    }),
  });
  const observer: Observer = {
    log: () => undefined,
    attemptEnd: (entry) => seen.push(entry.attemptId),
    requestEnd: () => undefined,
    breakerChange: () => undefined,
    configReload: () => undefined,
  };
  const observed = tail.observe(observer);
  const watch = (workspaceId: string | null, more: Partial<Parameters<RequestTail["open"]>[0]> = {}) =>
    new Watcher(
      tail.open({
        workspaceId,
        userId: "usr_1",
        visiblePerson: null,
        signal: never,
        stillAllowed: async () => true,
        ...more,
      }),
    );
  return { tail, clock, seen, observed, watch, keyReads: () => keyReads };
}

type RequestTailKeys = ConstructorParameters<typeof RequestTail>[0]["controlStore"];
type RequestTailPeople = ConstructorParameters<typeof RequestTail>[0]["people"];

const never = new AbortController().signal;

/** Reads events as a browser would. */
class Watcher {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.reader = stream.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  }

  /** The text of the next piece; null at the end. */
  async next(): Promise<string | null> {
    const piece = await this.reader.read();
    return piece.done ? null : new TextDecoder().decode(piece.value);
  }

  async ids(): Promise<string[]> {
    return [...((await this.next()) ?? "").matchAll(/^id: (.+)$/gm)].map((match) => match[1] ?? "");
  }
}

function entry(attemptId: string, more: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    attemptId,
    requestId: "req_1",
    at: 1,
    workspaceId: "ws_1",
    groupId: "grp_1",
    keyId: "key_1",
    model: "gpt-test",
    requestedModel: "gpt-test",
    provider: "main",
    deployment: "dep_1",
    upstreamModel: "u",
    endpoint: "chat",
    callerDialect: "openai-chat",
    upstreamDialect: "openai-chat",
    stream: true,
    retryIndex: 0,
    priceVersion: null,
    inputEstimate: 0,
    reservedNanoUsd: 0,
    userAgent: "",
    tags: {},
    endedAt: 2,
    outcome: "succeeded",
    httpStatus: 200,
    errorCode: null,
    usage: { ...noUsage, inputUncached: 3, cacheRead: 4, output: 5, reasoning: 2 },
    usageSource: "upstream",
    rawUsage: null,
    costNanoUsd: 1_500_000_000,
    totalMs: 12.5,
    firstByteMs: 1,
    firstTokenMs: 2,
    upstreamMs: 3,
    overheadMs: 0.1,
    startedAfterMs: 1,
    upstreamStatus: 200,
    upstreamId: null,
    ...more,
  };
}

test("shows the requests of the watched workspace as they end, with names, and no others", async () => {
  const { observed, seen, watch } = openTail();
  const acme = watch("ws_1");
  const other = watch("ws_2");
  const all = watch(null);
  for (const one of [acme, other, all]) expect(await one.next()).toBe("retry: 3000\n: open\n\n");
  observed.attemptEnd(entry("att_1"));
  const text = (await acme.next()) ?? "";
  expect(text.startsWith("id: att_1\ndata: {")).toBe(true);
  expect(JSON.parse(text.split("\ndata: ")[1] ?? "")).toMatchObject({
    attempt_id: "att_1",
    workspace: { id: "ws_1", slug: "acme" },
    key: { id: "key_1", name: "name of key_1" },
    group: { id: "grp_1", name: "default" },
    input_tokens: 7,
    output_tokens: 5,
    cost_usd: 1.5,
    outcome: "succeeded",
  });
  observed.attemptEnd(entry("att_2", { workspaceId: "ws_2" }));
  expect(await other.ids()).toEqual(["att_2"]);
  expect(await all.ids()).toEqual(["att_1", "att_2"]);
  expect(seen).toEqual(["att_1", "att_2"]);
});

test("names the signed-in user of a call from the console", async () => {
  const { observed, watch } = openTail();
  const acme = watch("ws_1");
  await acme.next();
  observed.attemptEnd(entry("att_1", { actorId: "usr_1" }));
  const text = (await acme.next()) ?? "";
  expect(JSON.parse(text.split("\ndata: ")[1] ?? "").actor).toEqual({
    id: "usr_1",
    email: "usr_1@example.com",
    name: "",
  });
});

test("shows a user without wider rights only their own requests and requests of shared keys", async () => {
  const { observed, watch } = openTail();
  const own = watch("ws_1", { visiblePerson: "usr_1" });
  await own.next();
  for (const [id, personId] of [["att_1", "usr_1"], ["att_2", "usr_2"], ["att_3"]] as const) {
    observed.attemptEnd(entry(id, personId === undefined ? {} : { personId }));
  }
  expect(await own.ids()).toEqual(["att_1", "att_3"]);
});

test("reads and stores nothing without a view", async () => {
  const { observed, seen, watch, keyReads } = openTail();
  observed.attemptEnd(entry("att_1"));
  const watcher = watch(null);
  await watcher.next();
  observed.attemptEnd(entry("att_2", { keyId: "key_broken" }));
  expect(await watcher.ids()).toEqual(["att_2"]);
  expect([seen, keyReads()]).toEqual([["att_1", "att_2"], 1]);
});

test("drops the oldest rows of a slow view, reports their number, and delays no other view", async () => {
  const { observed, watch } = openTail();
  const slow = watch("ws_1");
  const quick = watch("ws_1");
  await slow.next();
  await quick.next();
  const count = bounds.tailRowsMax + 3;
  for (let n = 0; n < count; n++) {
    observed.attemptEnd(entry(`att_${n}`));
    expect(await quick.ids()).toEqual([`att_${n}`]);
  }
  const text = (await slow.next()) ?? "";
  expect(text.startsWith('event: dropped\ndata: {"rows":3}\n\nid: att_3\n')).toBe(true);
  expect(text).toContain(`id: att_${count - 1}\n`);
});

test("keeps a silent view alive and ends it after half an hour", async () => {
  const { tail, clock, watch } = openTail();
  const watcher = watch("ws_1");
  await watcher.next();
  for (let beats = 1; beats * bounds.keepAliveMs < bounds.tailMs; beats++) {
    const next = watcher.next();
    clock.advance(bounds.keepAliveMs);
    expect(await next).toBe(": alive\n\n");
  }
  clock.advance(bounds.keepAliveMs);
  expect(await watcher.next()).toBe('event: end\ndata: {"why":"time"}\n\n');
  expect(await watcher.next()).toBeNull();
  expect([tail.listeners, clock.pending]).toEqual([0, 0]);
});

test.each([
  ["says no", async () => false],
  ["cannot be asked", () => Promise.reject(new Failure("not_found", "The workspace is gone."))],
])("ends a view when the check of its rights %s", async (_, stillAllowed) => {
  const { tail, clock, observed, watch } = openTail();
  const watcher = watch("ws_1", { stillAllowed });
  await watcher.next();
  const next = watcher.next();
  clock.advance(bounds.keepAliveMs);
  expect(await next).toBe('event: end\ndata: {"why":"session"}\n\n');
  observed.attemptEnd(entry("att_1"));
  expect(await watcher.next()).toBeNull();
  expect([tail.listeners, clock.pending]).toEqual([0, 0]);
});

test("removes a view at once when its client leaves", async () => {
  const { tail, clock, watch } = openTail();
  const leaving = new AbortController();
  const first = watch("ws_1", { signal: leaving.signal });
  const second = watch("ws_1");
  await first.next();
  leaving.abort();
  await second.reader.cancel();
  expect([tail.listeners, clock.pending]).toEqual([0, 0]);
  watch("ws_1", { signal: leaving.signal });
  expect(tail.listeners).toBe(0);
});

test("limits open views in total and per user, and refuses them while closing", async () => {
  const { tail, clock, watch, observed } = openTail();
  const watchAs = (n: number) => watch(null, { userId: `usr_${Math.floor(n / bounds.tailsPerUserMax)}` });
  const views = Array.from({ length: bounds.tailsPerUserMax }, (_, n) => watchAs(n));
  const tooMany = expect.objectContaining({ code: "rate_limit_exceeded", retryAfterMs: bounds.keepAliveMs });
  expect(() => watchAs(0)).toThrow(tooMany);
  // All who watch one workspace leave a quarter of the places to others.
  for (let n = bounds.tailsPerUserMax; views.length < (bounds.tailsMax * 3) / 4 - 1; n++) views.push(watchAs(n));
  expect(() => watch(null, { userId: "usr_new" })).toThrow(tooMany);
  views.push(watch("ws_other", { userId: "usr_new" }));
  await views.pop()?.reader.cancel();
  observed.attemptEnd(entry("att_1"));
  tail.close();
  expect([tail.listeners, clock.pending]).toEqual([0, 0]);
  const text = (await views[0]?.next()) ?? "";
  expect(text).toContain("id: att_1\n");
  expect(text.endsWith('event: end\ndata: {"why":"closing"}\n\n')).toBe(true);
  expect(await views[0]?.next()).toBeNull();
  expect(() => watch(null)).toThrow(expect.objectContaining({ code: "draining" }));
});
