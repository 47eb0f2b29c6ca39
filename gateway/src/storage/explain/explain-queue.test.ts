import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Explanation } from "@sluice/contract";
import type { CapturedRequest, ExplainedRequest } from "#ports/index.ts";
import { isSecretHeader, isShownHeader } from "#telemetry/index.ts";
import { ledgerEntry } from "../../../test/conformance/store-fixture.ts";
import { FakeClock } from "../../../test/fake-clock.ts";
import { openMigrated } from "../../../test/migrated.ts";
import { writingHere } from "../../../test/writing-here.ts";
import type { Database } from "../database/database.ts";
import {
  type ExplainerOptions,
  ExplainQueue,
  explainBatchRowsMax,
  explainChoiceCharactersPerSecond,
  explainChoicesPerSecond,
  explainFlushMs,
  explainQueueBytesMax,
  explainQueueRowsMax,
  explainTextMax,
  foldedPerMinute,
} from "./explain-queue.ts";
import { createExplainStore } from "./explain-rows.ts";

const dayMs = 86_400_000;
let directory: string;
let database: Database;
let clock: FakeClock;
let logged: string[];
let open: ExplainQueue[];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-explain-"));
  database = await openMigrated(join(directory, "sluice.db"));
  clock = new FakeClock();
  clock.advance(100 * dayMs);
  logged = [];
  open = [];
});

afterEach(async () => {
  await Promise.all(open.map((one) => one.close(2_000)));
  await database.close();
  rmSync(directory, { recursive: true, force: true });
});

function explainer(change: Partial<ExplainerOptions> = {}): ExplainQueue {
  const made = new ExplainQueue({
    database,
    place: { kind: "sqlite", path: join(directory, "sluice.db") },
    clock,
    observer: { log: (level, message) => logged.push(`${level}: ${message}`) },
    hidesHeader: isSecretHeader,
    showsHeader: isShownHeader,
    captureRetentionMs: () => 7 * dayMs,
    ...change,
  });
  open.push(made);
  return made;
}

const store = () => createExplainStore(database, clock);

const nothing: Explanation = { plan: [], refusal: null, failures: [], walk: [], steps: [] };

function explained(requestId: string, isImportant = true, explanation: Explanation = nothing): ExplainedRequest {
  return { requestId, workspaceId: "ws_1", isImportant, explanation: () => explanation };
}

function captured(requestId: string, change: Partial<CapturedRequest> = {}): CapturedRequest {
  return {
    requestId,
    workspaceId: "ws_1",
    keyId: "key_1",
    endpoint: "chat",
    requestHeaders: [],
    responseHeaders: [],
    requestBody: null,
    responseBody: null,
    secrets: [],
    ...change,
  };
}

const body = (text: string, truncated = false) => ({ text, bytes: text.length, truncated });

describe("ExplainQueue", () => {
  test("stores an explanation and a capture under their request", async () => {
    const queue = explainer();
    const explanation: Explanation = {
      plan: [],
      refusal: {
        code: "budget_exceeded",
        message: "used up",
        scope: "key",
        limit: 1.5,
        used: 1.5,
        resets_at: 1,
        reached: null,
      },
      failures: [{ attempt_id: "att_1", code: "upstream_error", message: "500", retry: "same" }],
      walk: ["attempt 1 to a: first in order"],
      steps: [{ code: "try_first", params: { attempt: 1, deployment: "a" } }],
    };
    queue.explain(explained("req_1", true, explanation));
    queue.capture(captured("req_1", { requestBody: body("hello"), responseBody: body("hi", true) }));
    await queue.written();
    expect(await store().explanation("req_1")).toEqual(explanation);
    expect(await store().capture("req_1")).toEqual({
      request_headers: [],
      response_headers: [],
      request_body: "hello",
      request_bytes: 5,
      response_body: "hi",
      response_bytes: 2,
      truncated: true,
      expires_at: clock.now() + 7 * dayMs,
    });
    expect(await store().explanation("req_2")).toBeNull();
    expect(await store().capture("req_2")).toBeNull();
  });

  test("stores the folded requests of a workspace up to a number per minute, and deletes them with their explanations", async () => {
    const queue = explainer();
    const rows = async () =>
      (await database.kysely.selectFrom("folded_requests").select("workspace_id").execute()).length;
    const fold = (requestId: string, workspaceId: string) =>
      queue.fold({ entry: ledgerEntry(requestId, { requestId, workspaceId, at: clock.now() }), countedIn: "req_0" });
    for (let n = 0; n < foldedPerMinute + 5; n++) fold(`req_${n}`, "ws_1");
    fold("req_other", "ws_2");
    await queue.written();
    expect(await rows()).toBe(foldedPerMinute + 1);
    expect(queue.dropped.folded).toBe(5);
    clock.advance(60_000);
    fold("req_later", "ws_1");
    await queue.written();
    expect(await rows()).toBe(foldedPerMinute + 2);
    const ages = { explanationsBefore: clock.now(), capturesBefore: 0, now: clock.now() };
    expect(await queue.prune(ages)).toBe(foldedPerMinute + 1);
    expect(await rows()).toBe(1);
  });

  test("writes batches after a short delay", async () => {
    const batches: number[] = [];
    const done = Promise.withResolvers<void>();
    const patient = explainer({
      writer: {
        keep: async ({ explanations }) => {
          batches.push(explanations.length);
          if (batches.reduce((sum, rows) => sum + rows) === 300) done.resolve();
          return explanations.length;
        },
        prune: async () => 0,
        end: async () => undefined,
      },
    });
    for (let count = 0; count < 300; count++) patient.explain(explained(`req_${count}`));
    expect(batches).toEqual([]);
    clock.advance(explainFlushMs);
    await done.promise;
    expect(batches).toEqual([explainBatchRowsMax, explainBatchRowsMax, 300 - 2 * explainBatchRowsMax]);
  });

  test("a later explanation replaces the earlier one", async () => {
    const queue = explainer();
    queue.explain(explained("req_1"));
    queue.explain(explained("req_1", true, { ...nothing, walk: ["later"] }));
    queue.capture(captured("req_1", { requestBody: body("before") }));
    queue.capture(captured("req_1", { requestBody: body("after") }));
    await queue.written();
    expect(await store().explanation("req_1")).toMatchObject({ walk: ["later"] });
    expect(await store().capture("req_1")).toMatchObject({ request_body: "after" });
  });

  test("close writes queued entries and drops later ones", async () => {
    const closing = explainer();
    closing.explain(explained("req_1"));
    await closing.close(2_000);
    closing.explain(explained("req_2"));
    closing.capture(captured("req_2"));
    expect(await store().explanation("req_1")).not.toBeNull();
    closing.fold({ entry: ledgerEntry("req_2"), countedIn: "req_0" });
    expect(closing.dropped).toEqual({ explanations: 1, captures: 1, folded: 1 });
  });
});

describe("redaction", () => {
  const secret = "vendor-secret-0123456789";

  test("removes credentials from headers by name, and from bodies by value and form", async () => {
    const queue = explainer();
    queue.capture(
      captured("req_1", {
        requestHeaders: [
          ["authorization", "Bearer caller-secret-9876543210"],
          ["cookie", "session=cookie-secret-5555"],
          ["x-strange-key", "strange-secret-1"],
          ["user-agent", "curl"],
          ["idempotency-key", "order-17"],
          ["referer", "https://a.test/?key=query-secret-1&x=1"],
        ],
        responseHeaders: [["set-cookie", "a=given-secret-77"]],
        requestBody: body(`{"a":"caller-secret-9876543210","b":"sk-proj-abcdefgh","c":"cookie-secret-5555"}`),
        responseBody: body(`refused ${secret} and given-secret-77, Bearer eyJhbGciOi.x.y`),
        secrets: [secret],
      }),
    );
    await queue.written();
    const stored = await store().capture("req_1");
    expect(stored?.request_headers).toEqual([
      ["authorization", "[redacted]"],
      ["cookie", "[redacted]"],
      ["x-strange-key", "[redacted]"],
      ["user-agent", "curl"],
      ["idempotency-key", "order-17"],
      ["referer", "https://a.test/?key=[redacted]&x=1"],
    ]);
    expect(stored?.response_headers).toEqual([["set-cookie", "[redacted]"]]);
    expect(stored?.request_body).toBe(`{"a":"[redacted]","b":"sk-[redacted]","c":"[redacted]"}`);
    expect(stored?.response_body).toBe("refused [redacted] and [redacted], Bearer [redacted]");
  });

  test("removes a credential of which only the first half was captured", async () => {
    const queue = explainer();
    const text = `the key is ${secret.slice(0, 14)}`;
    queue.capture(captured("req_1", { responseBody: body(text, true), secrets: [secret] }));
    await queue.written();
    expect((await store().capture("req_1"))?.response_body).toBe("the key is [redacted]");
  });

  test("removes credentials from messages and shortens them", async () => {
    const queue = explainer();
    const message = `sk-proj-${"x".repeat(40)} is wrong. ${"Very ".repeat(1_000)}`;
    queue.explain(
      explained("req_1", true, {
        ...nothing,
        refusal: { code: "x", message, scope: null, limit: null, used: null, resets_at: null, reached: null },
        failures: [{ attempt_id: "att_1", code: "x", message, retry: "never" }],
      }),
    );
    await queue.written();
    const stored = await store().explanation("req_1");
    for (const text of [stored?.refusal?.message, stored?.failures[0]?.message]) {
      expect(text).toStartWith("sk-[redacted] is wrong. Very");
      expect(text).toHaveLength(explainTextMax);
    }
  });
});

describe("limits", () => {
  /** A writer that got an order and never answers. */
  const stuck = {
    keep: () => new Promise<number>(() => undefined),
    prune: async () => 0,
    end: async () => undefined,
  };

  const of = (workspaceId: string, request: ExplainedRequest): ExplainedRequest => ({ ...request, workspaceId });

  test("drops and counts entries that do not fit, and reserves half of the queue for important entries", () => {
    const full = explainer({ writer: stuck });
    for (let count = 0; count < explainQueueRowsMax; count++) full.explain(explained(`req_${count}`));
    expect(full.dropped.explanations).toBe(explainQueueRowsMax / 2);
    const half = explainer({ writer: stuck });
    for (let count = 0; count < explainQueueRowsMax / 2; count++) half.explain(explained(`req_${count}`));
    let built = 0;
    const explanation = () => {
      built++;
      return nothing;
    };
    half.explain({ ...of("ws_2", explained("choice", false)), explanation });
    expect({ dropped: half.dropped.explanations, built }).toEqual({ dropped: 1, built: 0 });
    half.explain(of("ws_2", explained("refusal")));
    expect(half.dropped.explanations).toBe(1);
    open = [];
  });

  test("leaves room in the queue for workspaces that store little", () => {
    const queue = explainer({ writer: stuck });
    const large = body("many words ".repeat(6_000));
    for (let count = 0; count < 1_000; count++) queue.capture(captured(`req_${count}`, { requestBody: large }));
    for (let count = 0; count < explainQueueRowsMax; count++) queue.explain(of("ws_2", explained(`req_${count}`)));
    queue.dropped.explanations = 0;
    queue.dropped.captures = 0;
    for (let workspace = 3; workspace < 10; workspace++) {
      const workspaceId = `ws_${workspace}`;
      queue.explain(of(workspaceId, explained(`of_${workspaceId}`)));
      queue.capture(captured(`of_${workspaceId}`, { workspaceId, requestBody: large }));
      queue.fold({ entry: ledgerEntry(`of_${workspaceId}`, { workspaceId }), countedIn: "req_0" });
    }
    expect(queue.dropped).toEqual({ explanations: 0, captures: 0, folded: 0 });
    open = [];
  });

  test("counts what was written as free again", async () => {
    const queue = explainer({ writer: { keep: async () => 0, prune: async () => 0, end: async () => undefined } });
    for (let round = 0; round < 2; round++) {
      for (let count = 0; count < explainQueueRowsMax / 2; count++) queue.explain(explained(`req_${round}_${count}`));
      await queue.written();
    }
    expect(queue.dropped.explanations).toBe(0);
  });

  test("limits the size of the queue too", () => {
    const full = explainer({ writer: stuck });
    const large = body("many words ".repeat(6_000));
    for (let count = 0; count < 1_000; count++) full.capture(captured(`req_${count}`, { requestBody: large }));
    const stored = 1_000 - full.dropped.captures;
    expect(stored).toBe(Math.ceil(explainQueueBytesMax / 2 / (large.text.length + 4)));
    open = [];
  });

  test("limits unimportant explanations per second, fairly between workspaces", () => {
    const busy = explainer({ writer: stuck });
    const most = explainChoicesPerSecond / 2;
    for (let count = 0; count < most + 50; count++) busy.explain(explained(`a_${count}`, false));
    for (let count = 0; count < 50; count++) busy.explain(explained(`b_${count}`, true));
    for (let count = 0; count < 50; count++) busy.explain(of("ws_2", explained(`c_${count}`, false)));
    expect(busy.dropped.explanations).toBe(50);
    clock.advance(1_000);
    busy.explain(explained("later", false));
    expect(busy.dropped.explanations).toBe(50);
    open = [];
  });

  test("limits the characters of unimportant explanations per second", () => {
    const busy = explainer({ writer: stuck });
    const long = { ...nothing, walk: ["a".repeat(10_000)] };
    for (let count = 0; count < 50; count++)
      busy.explain({ ...explained(`a_${count}`, false), explanation: () => long });
    const stored = Math.ceil(explainChoiceCharactersPerSecond / 2 / JSON.stringify(long).length);
    expect(busy.dropped.explanations).toBe(50 - stored);
    for (let count = 0; count < 50; count++) busy.explain({ ...explained(`b_${count}`), explanation: () => long });
    expect(busy.dropped.explanations).toBe(50 - stored);
    open = [];
  });
});

describe("failures", () => {
  test("drops what cannot be written, logs once, and never throws", async () => {
    await database.kysely.schema.dropTable("request_explanations").execute();
    const queue = explainer();
    for (const id of ["req_1", "req_2"]) {
      queue.explain(explained(id));
      await queue.written();
    }
    expect(queue.dropped).toEqual({ explanations: 2, captures: 0, folded: 0 });
    expect(logged).toEqual(["warn: failed to write explanations and captures; dropping them"]);
  });

  test("counts folded requests that cannot be written, and never throws", async () => {
    const queue = explainer({
      writer: {
        keep: () => Promise.reject(new Error("the disk is full")),
        prune: async () => 0,
        end: async () => undefined,
      },
    });
    queue.fold({ entry: ledgerEntry("req_1"), countedIn: "req_0" });
    await queue.written();
    expect(queue.dropped.folded).toBe(1);
    queue.fold({ entry: ledgerEntry("req_2", { model: 1n as never }), countedIn: "req_0" });
    expect(queue.dropped.folded).toBe(2);
  });

  test("logs an explanation that throws, without failing the call", async () => {
    const queue = explainer();
    const broken = () => {
      throw new Error("a hole in the plan");
    };
    queue.explain({ ...explained("req_1"), explanation: broken });
    expect(queue.dropped.explanations).toBe(1);
    expect(logged).toEqual(["error: failed to store an explanation"]);
  });
});

describe("prune", () => {
  test("removes each kind at its age and leaves nothing of a body in the file", async () => {
    const queue = explainer();
    queue.explain(explained("req_old"));
    queue.capture(captured("req_old", { requestBody: body("an old secret of the heart ".repeat(2_000)) }));
    await queue.written();
    clock.advance(10 * dayMs);
    queue.explain(explained("req_new"));
    queue.capture(captured("req_new", { requestBody: body("something new") }));
    await queue.written();
    expect(await store().capture("req_old")).toBeNull();
    const now = clock.now();
    const ages = { explanationsBefore: now - 5 * dayMs, capturesBefore: now - 7 * dayMs, now };
    expect(await queue.prune(ages)).toBe(2);
    expect(await queue.prune(ages)).toBe(0);
    expect(await store().explanation("req_old")).toBeNull();
    expect(await store().explanation("req_new")).not.toBeNull();
    expect(await store().capture("req_new")).toMatchObject({ request_body: "something new" });
    await queue.close(2_000);
    await database.kysely.executeQuery({ sql: "pragma wal_checkpoint(truncate)", parameters: [] } as never);
    for (const file of readdirSync(directory)) {
      expect(readFileSync(join(directory, file)).includes("an old secret of the heart")).toBe(false);
    }
  });

  test("removes thousands of rows after retention is shortened", async () => {
    const queue = explainer();
    for (let count = 0; count < 1_200; count++) queue.explain(explained(`req_${count}`));
    for (let count = 0; count < 60; count++) queue.capture(captured(`req_${count}`));
    await queue.written();
    clock.advance(2 * dayMs);
    const now = clock.now();
    const ages = { explanationsBefore: now - dayMs, capturesBefore: now - dayMs, now };
    expect(await queue.prune(ages)).toBe(1_260);
  });

  test("writes new entries between two batches", async () => {
    const orders: string[] = [];
    const { keep, prune, end } = writingHere(database);
    const queue = explainer({
      writer: {
        keep(batch) {
          orders.push("keep");
          return keep(batch);
        },
        async prune(ages) {
          orders.push("prune");
          queue.explain(explained(`req_new_${orders.length}`));
          void queue.written();
          return await prune(ages);
        },
        end,
      },
    });
    for (let count = 0; count < 1_200; count++) queue.explain(explained(`req_${count}`));
    await queue.written();
    clock.advance(2 * dayMs);
    orders.length = 0;
    const now = clock.now();
    expect(await queue.prune({ explanationsBefore: now - dayMs, capturesBefore: now - dayMs, now })).toBe(1_200);
    expect(orders.slice(0, 4)).toEqual(["prune", "keep", "prune", "keep"]);
  });
});
