import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { requestSorts, type UsageDimension, type UsageFigures, usageDimensions } from "@sluice/contract";
import fc from "fast-check";
import { type LedgerEntry, nanoToUsd, userAgentFamily } from "#core/index.ts";
import type { Paged, RequestFilter, UsageFilter } from "#ports/index.ts";
import { type ReportFixture, runsOn } from "./report-fixture.ts";
import { newYear } from "./store-fixture.ts";

export const hour = 3_600_000;
export const day = 24 * hour;

/** Repeats a search that ran out of time on a busy machine. Sums of past hours are cached. */
export async function complete<Answer extends { readonly searchedFrom?: unknown; readonly searched_from?: unknown }>(
  ask: () => Promise<Answer>,
): Promise<Answer> {
  for (let left = 50; ; left--) {
    const answer = await ask();
    if ((answer.searchedFrom ?? answer.searched_from ?? null) === null || left === 0) return answer;
  }
}

/** All rows of a list, page by page. */
export async function everyRow<Row>(readPage: (cursor: string | null) => Promise<Paged<Row>>): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: Paged<Row> = await readPage(cursor);
    rows.push(...page.data);
    if (page.next === null) return rows;
    cursor = page.next;
  }
}

/** Guarantees of every implementation of the port `ReportStore` for requests and usage. */
export function reportStoreSuite(name: string, open: (count: number) => Promise<ReportFixture>): void {
  describe(`report store: ${name}`, () => {
    let fixture: ReportFixture;
    beforeAll(async () => {
      fixture = await open(900);
    });
    afterAll(() => fixture[Symbol.asyncDispose]());
    requestTests(name, () => fixture);
    usageTests(name, () => fixture);

    test("finds requests by a text in their captured bodies, also where JSON escapes it", async () => {
      await using own = await open(40);
      const { reports, entries, database, acme, beta } = own;
      const bodies = ['{"content":"The Quick\\nbrown fox"}', '{"content":"100% plain"}'];
      const rows = entries.slice(0, 30).map((entry, n) => ({
        ...{ request_id: entry.requestId, workspace_id: entry.workspaceId, key_id: entry.keyId, at: entry.at },
        ...{ expires_at: newYear + 400 * day, request_headers: "[]", response_headers: "[]", truncated: 0 },
        ...{ request_body: bodies[n % 3] ?? null, response_body: n % 3 === 2 ? "a quick answer" : null },
        ...{ request_bytes: 1, response_bytes: 1 },
      }));
      const unique = [...new Map(rows.map((row) => [row.request_id, row])).values()];
      await database.kysely.insertInto("request_captures").values(unique).execute();
      const found = async (text: string, workspaceId: string | null = null) =>
        new Set(
          (await everyRow((cursor) => reports.requestsWithText({ workspaceId }, text, cursor, 3))).map(
            (row) => row.request_id,
          ),
        );
      const having = (test: (row: (typeof rows)[number]) => boolean) =>
        new Set(unique.filter(test).map((row) => row.request_id));
      expect(await found("quick\nBROWN")).toEqual(having((row) => row.request_body === bodies[0]));
      expect(await found("quick")).toEqual(
        having((row) => row.request_body === bodies[0] || row.response_body !== null),
      );
      expect(await found("0% p")).toEqual(having((row) => row.request_body === bodies[1]));
      expect(await found("0_ p")).toEqual(new Set());
      for (const { id } of [acme, beta]) {
        const inOne = await reports.requestsWithText({ workspaceId: id }, "quick", null, 100);
        expect(inOne.data.length).toBeGreaterThan(0);
        expect(new Set(inOne.data.map((row) => row.workspace.id))).toEqual(new Set([id]));
      }
    });

    test("lists running background responses among the entries, page by page, until they end", async () => {
      await using own = await open(150);
      const { reports, ledgerStore, acme, beta } = own;
      const pending = own.entries
        .filter((_, index) => index % 4 === 0)
        .map((like, index) => ({
          ...like,
          attemptId: `att_pp${index}`,
          requestId: `req_pp${index}`,
          endpoint: index % 3 === 0 ? ("pass-through" as const) : ("responses" as const),
          outcome: "pending" as const,
          reservedNanoUsd: 7_000_000,
          costNanoUsd: 0,
        }));
      await ledgerStore.insert(pending);
      const [ended] = pending;
      if (ended === undefined) throw new Error("there are no entries");
      const all: LedgerEntry[] = [...own.entries, ...pending];
      const unmeasured = { status: undefined, errorCode: undefined, minMs: undefined };
      const filters: readonly RequestFilter[] = [
        { workspaceId: null },
        { workspaceId: acme.id },
        { workspaceId: beta.id, outcome: "pending" },
        { workspaceId: null, outcome: "pending", from: newYear + 50 * hour, to: newYear + 2 * day },
        { workspaceId: null, outcome: "unsuccessful" },
        { workspaceId: null, outcome: "succeeded" },
        { workspaceId: null, endpoint: "responses" },
        { workspaceId: null, endpoint: "pass-through" },
        { workspaceId: acme.id, model: "m1" },
        { workspaceId: null, provider: "p2" },
        { workspaceId: null, keyId: acme.keys[0] ?? "" },
        { workspaceId: null, groupId: acme.groups[0] ?? "" },
        { workspaceId: null, personId: "usr_2" },
        { workspaceId: null, search: "req_pp1" },
        { workspaceId: null, status: 200 },
        { workspaceId: null, minMs: 1 },
      ];
      for (const filter of filters) {
        const isMeasured = Object.keys(unmeasured).some((name) => name in filter);
        const expected = all
          .filter((entry) => matches(entry, filter))
          .filter(({ outcome }) => outcome !== "pending" || (!isMeasured && filter.outcome !== "unsuccessful"))
          .toSorted(newestFirst);
        for (const size of [7, 100]) {
          const rows = await everyRow((cursor) => reports.requests(filter, cursor, size));
          expect(rows.map((row) => row.attempt_id)).toEqual(expected.map(({ attemptId }) => attemptId));
        }
      }
      const search = { workspaceId: null, search: ended.attemptId };
      expect((await reports.requests(search, null, 1)).data).toMatchObject([
        { outcome: "pending", held_usd: 0.007, cost_usd: 0, input_tokens: 0, output_tokens: 0 },
      ]);
      await ledgerStore.insert([{ ...ended, outcome: "succeeded", costNanoUsd: 5 }]);
      expect((await reports.requests(search, null, 10)).data).toMatchObject([{ outcome: "succeeded", held_usd: null }]);
    });
  });
}

function requestTests(name: string, fixture: () => ReportFixture): void {
  test("lists exactly the requests that match, newest first, for any combination of filters", async () => {
    const { reports, entries, acme, beta } = fixture();
    const one = <Value>(...values: Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
    const query = fc.record({
      workspaceId: fc.constantFrom(null, acme.id, beta.id, "ws_none"),
      model: one("m1", "m12", "none"),
      provider: one("p0", "p2"),
      keyId: one(...acme.keys, ...beta.keys),
      groupId: one(...acme.groups, ...beta.groups),
      personId: one("usr_0", "usr_2", "usr_none"),
      endpoint: one("chat", "messages"),
      outcome: one("failed", "succeeded", "rejected", "unsuccessful"),
      status: one(200, 401),
      errorCode: one("e0", "e3"),
      minMs: one(1, 3_000, 100_000),
      minCostUsd: one(0.000_1, 0.5),
      maxCostUsd: one(0.000_3, 0),
      tag: one({ name: "team" }, { name: "team", value: "a" }, { name: "session", value: "s3" }, { name: '"x' }),
      userAgent: one("TEST", "none"),
      from: one(newYear + day, newYear + 50 * hour),
      to: one(newYear + 2 * day, newYear),
      search: one("att_001", "req_00", "resp_00", "req_00300", "%", "req_99999"),
    });
    await fc.assert(
      fc.asyncProperty(query, fc.constantFrom(7, 40, 200), async (filter, size) => {
        const requestFilter = Object.fromEntries(
          Object.entries(filter).filter(([, value]) => value !== undefined),
        ) as unknown as RequestFilter;
        const rows = await everyRow((cursor) => reports.requests(requestFilter, cursor, size));
        const expected = entries.filter((entry) => matches(entry, requestFilter)).toSorted(newestFirst);
        expect(rows.map((row) => row.attempt_id)).toEqual(expected.map((entry) => entry.attemptId));
      }),
      { numRuns: runsOn(name, 150) },
    );
  });

  test("returns the details of a request, and the id of a deleted object as its name", async () => {
    const { reports, acme, entries } = fixture();
    const { data } = await reports.requests({ workspaceId: acme.id, keyId: "key_gone" }, null, 1);
    const entry = entries.find((each) => each.attemptId === data[0]?.attempt_id);
    if (entry === undefined) throw new Error("there is no such entry");
    const { usage } = entry;
    expect(data[0]).toMatchObject({
      request_id: entry.requestId,
      at: entry.at,
      workspace: { id: acme.id, slug: "acme" },
      key: { id: "key_gone", name: "key_gone" },
      model: entry.model,
      requested_model: "gpt-5",
      provider: entry.provider,
      stream: true,
      outcome: entry.outcome,
      input_tokens: usage.inputUncached + usage.cacheRead,
      output_tokens: usage.output,
      cost_usd: nanoToUsd(entry.costNanoUsd),
      total_ms: entry.totalMs,
      first_token_ms: entry.firstTokenMs,
    });
    const named = await reports.requests({ workspaceId: acme.id, keyId: acme.keys[0] ?? "" }, null, 1);
    expect(named.data[0]).toMatchObject({ key: { name: "ci" } });
  });

  test("sorts all attempts that match by cost, duration or tokens, page by page", async () => {
    const { reports, entries, acme } = fixture();
    const tokens = ({ usage }: LedgerEntry) => usage.inputUncached + usage.cacheRead + usage.output;
    const measures: Readonly<Record<string, (entry: LedgerEntry) => number>> = {
      cost_usd: (entry) => entry.costNanoUsd,
      total_ms: (entry) => entry.totalMs + entry.startedAfterMs,
      tokens,
    };
    for (const filter of [{ workspaceId: acme.id }, { workspaceId: null, keyId: acme.keys[0] ?? "" }]) {
      for (const sort of requestSorts) {
        const measure = measures[sort.replace("-", "")];
        if (measure === undefined) continue;
        const sign = sort.startsWith("-") ? -1 : 1;
        const expected = entries
          .filter((entry) => matches(entry, filter))
          .toSorted((a, b) => sign * (measure(a) - measure(b)) || newestFirst(a, b));
        const rows = await everyRow((cursor) => complete(() => reports.sortedRequests(filter, sort, cursor, 70)));
        expect(rows.map((row) => row.attempt_id)).toEqual(expected.map((entry) => entry.attemptId));
      }
    }
  });

  test("sums everything that a filter matches, from the rollups where they have its columns", async () => {
    const { reports, entries, acme } = fixture();
    const [from, to] = [newYear + hour, newYear + 5 * hour];
    const filters: readonly RequestFilter[] = [
      { workspaceId: acme.id, tag: { name: "team" }, from },
      { workspaceId: acme.id },
      { workspaceId: null, from: from + 1 },
      { workspaceId: acme.id, from: from - 900_000, to: to + 900_000 },
      { workspaceId: null, keyId: acme.keys[0] ?? "", from: from + 900_000, to },
      { workspaceId: acme.id, from: from + 1, to: from + 900_000 },
      { workspaceId: null, from, to: from },
    ];
    for (const filter of filters) {
      const matching = entries.filter((entry) => matches(entry, filter));
      const sum = (measure: (entry: LedgerEntry) => number) => matching.reduce((all, entry) => all + measure(entry), 0);
      expect(await complete(() => reports.requestTotals(filter))).toEqual({
        attempts: matching.length,
        requests: sum(({ retryIndex }) => (retryIndex === 0 ? 1 : 0)),
        unsuccessful: sum(({ outcome }) => (outcome === "succeeded" ? 0 : 1)),
        input_tokens: sum(({ usage }) => usage.inputUncached + usage.cacheRead),
        output_tokens: sum(({ usage }) => usage.output),
        cost_usd: nanoToUsd(sum(({ costNanoUsd }) => costNanoUsd)),
        searched_from: null,
      });
    }
    expect(await reports.requestTotals({ workspaceId: "ws_none" })).toMatchObject({ attempts: 0 });
  });

  test("is not disturbed by entries that arrive during paging", async () => {
    const { reports, ledgerStore, entries, beta } = fixture();
    const filter = { workspaceId: beta.id, to: newYear + 100 * day };
    const before = entries.filter((entry) => entry.workspaceId === beta.id).toSorted(newestFirst);
    const like = before[0];
    if (like === undefined) throw new Error("there are no entries");
    let late = 0;
    const rows = await everyRow(async (cursor) => {
      const page = await reports.requests(filter, cursor, 50);
      const [attemptId, requestId] = [`att_zz${late}`, `req_zz${late++}`];
      await ledgerStore.insert([{ ...like, attemptId, requestId, at: newYear + 90 * day + late }]);
      return page;
    });
    expect(rows.map((row) => row.attempt_id)).toEqual(before.map((entry) => entry.attemptId));
  });

  test("shows a running background response without a cost", async () => {
    const { reports, entries, ledgerStore } = fixture();
    const [like] = entries;
    if (like === undefined) throw new Error("there are no entries");
    const pending = { ...like, attemptId: "att_zzpending", requestId: "req_zzpending", costNanoUsd: 0 };
    await ledgerStore.insert([{ ...pending, outcome: "pending" }]);
    const attemptsIn = async (workspaceId: string) => (await reports.attempts(workspaceId, pending.requestId)).attempts;
    expect(await attemptsIn(like.workspaceId)).toMatchObject([
      { attempt_id: pending.attemptId, outcome: "pending", cost_usd: 0, usage_source: "none", cost_lines: [] },
    ]);
    expect(await attemptsIn("ws_none")).toEqual([]);
  });

  test("returns a request's attempts in order with their cost lines, and nothing to other workspaces", async () => {
    const { reports, entries, acme, beta } = fixture();
    const repeated = entries.find((entry) => entry.retryIndex === 1 && entry.costNanoUsd > 0);
    if (repeated === undefined) throw new Error("there is no retry");
    const [own, other] = repeated.workspaceId === acme.id ? [acme, beta] : [beta, acme];
    const attemptsIn = async (workspaceId: string | null) =>
      (await reports.attempts(workspaceId, repeated.requestId)).attempts;
    const attempts = await attemptsIn(null);
    expect(attempts.map((attempt) => attempt.retry_index)).toEqual([0, 1]);
    const inWorkspace = await attemptsIn(own.id);
    expect(inWorkspace).toEqual(attempts.filter((attempt) => attempt.workspace.id === own.id));
    expect((await attemptsIn(other.id)).map((each) => each.workspace.id)).not.toContain(own.id);
    expect(await attemptsIn("ws_none")).toEqual([]);
    const shown = attempts.find((attempt) => attempt.attempt_id === repeated.attemptId);
    expect(shown).toMatchObject({
      deployment: repeated.deployment,
      upstream_model: repeated.upstreamModel,
      price_version: repeated.priceVersion,
      usage: { input_uncached: repeated.usage.inputUncached, output: repeated.usage.output },
      raw_usage: repeated.rawUsage,
      user_agent: repeated.userAgent,
    });
    const input = shown?.cost_lines.find((line) => line.class === "input_uncached");
    expect(input).toEqual({
      class: "input_uncached",
      units: repeated.usage.inputUncached,
      unit_usd: 1.25e-6,
      usd: repeated.usage.inputUncached * 1.25e-6,
    });
    // The total cost is rounded once, to a nano-USD.
    const sum = shown?.cost_lines.reduce((all, line) => all + line.usd, 0) ?? 0;
    expect(Math.abs(sum - (shown?.cost_usd ?? 0))).toBeLessThanOrEqual(1e-9);
  });

  test("rejects an invalid cursor as the caller's error", async () => {
    const { reports } = fixture();
    for (const cursor of ["x", Buffer.from("-1.att").toString("base64url")]) {
      const rejection = { code: "invalid_request", param: "cursor" };
      await expect(reports.requests({ workspaceId: null }, cursor, 10)).rejects.toMatchObject(rejection);
      await expect(reports.keys({ workspaceId: null, now: newYear }, cursor, 10)).rejects.toMatchObject(rejection);
      await expect(reports.audit({ workspaceId: null }, cursor, 10)).rejects.toMatchObject(rejection);
    }
  });
}

function matches(entry: LedgerEntry, filter: RequestFilter): boolean {
  const { search, outcome } = filter;
  const ids = [entry.attemptId, entry.requestId, entry.upstreamId ?? ""];
  return (
    (filter.workspaceId === null || entry.workspaceId === filter.workspaceId) &&
    (filter.model === undefined || entry.model === filter.model) &&
    (filter.provider === undefined || entry.provider === filter.provider) &&
    (filter.keyId === undefined || entry.keyId === filter.keyId) &&
    (filter.groupId === undefined || entry.groupId === filter.groupId) &&
    (filter.personId === undefined || entry.personId === filter.personId) &&
    (filter.endpoint === undefined || entry.endpoint === filter.endpoint) &&
    (outcome === undefined ||
      (outcome === "unsuccessful" ? entry.outcome !== "succeeded" : entry.outcome === outcome)) &&
    (filter.status === undefined || entry.httpStatus === filter.status) &&
    (filter.errorCode === undefined || entry.errorCode === filter.errorCode) &&
    (filter.minMs === undefined || entry.totalMs + entry.startedAfterMs >= filter.minMs) &&
    (filter.minCostUsd === undefined || nanoToUsd(entry.costNanoUsd) >= filter.minCostUsd) &&
    (filter.maxCostUsd === undefined || nanoToUsd(entry.costNanoUsd) <= filter.maxCostUsd) &&
    (filter.tag === undefined || hasTag(entry, filter.tag)) &&
    (filter.userAgent === undefined || entry.userAgent.toLowerCase().includes(filter.userAgent.toLowerCase())) &&
    (filter.from === undefined || entry.at >= filter.from) &&
    (filter.to === undefined || entry.at < filter.to) &&
    (search === undefined || ids.some((id) => id.startsWith(search)))
  );
}

function hasTag({ tags }: LedgerEntry, { name, value }: NonNullable<RequestFilter["tag"]>): boolean {
  return name in tags && (value === undefined || tags[name] === value);
}

function newestFirst(a: LedgerEntry, b: LedgerEntry): number {
  return b.at - a.at || (a.attemptId < b.attemptId ? 1 : -1);
}

export const columnOf: Record<Exclude<UsageDimension, "none">, (entry: LedgerEntry) => string> = {
  model: (entry) => entry.model,
  provider: (entry) => entry.provider,
  key: (entry) => entry.keyId,
  group: (entry) => entry.groupId,
  workspace: (entry) => entry.workspaceId,
  person: (entry) => entry.personId ?? "",
  tag: (entry) => entry.tags["team"] ?? "",
  user_agent: (entry) => userAgentFamily(entry.userAgent),
  endpoint: (entry) => entry.endpoint,
};

function usageTests(name: string, fixture: () => ReportFixture): void {
  test("sums the usage of a period by step and line, with nine lines and the rest", async () => {
    const { reports, entries, acme } = fixture();
    const query = fc.record({
      by: fc.constantFrom<UsageDimension>(...usageDimensions),
      stepMs: fc.constantFrom(hour / 12, hour, day),
      tagValue: fc.option(fc.constantFrom("t0", "t1", ""), { nil: undefined, freq: 4 }),
      userAgent: fc.option(fc.constantFrom("claude-code", "other", ""), { nil: undefined, freq: 4 }),
      endpoint: fc.option(fc.constantFrom("messages", "chat"), { nil: undefined, freq: 4 }),
      personId: fc.option(fc.constantFrom("usr_0", "usr_1"), { nil: undefined, freq: 4 }),
      workspaceId: fc.constantFrom(null, acme.id),
      fromHour: fc.integer({ min: 0, max: 60 }),
      hours: fc.integer({ min: 1, max: 80 }),
      model: fc.option(fc.constantFrom("m1", "m2"), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(query, async ({ by, stepMs, workspaceId, fromHour, hours, model, personId, ...labels }) => {
        const from = newYear + fromHour * hour;
        const filter = {
          workspaceId,
          tag: "team",
          ...(Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined)) as Partial<
            typeof labels & UsageFilter
          >),
          by,
          stepMs,
          from,
          to: from + hours * hour,
          ...(model === undefined ? {} : { model }),
          ...(personId === undefined ? {} : { personId }),
        };
        const reading = await reports.usage(filter);
        const inTime = matching(entries, filter);
        expectFigures(reading.totals, inTime);
        expectFigures(reading.previous, matching(entries, { ...filter, from: from - hours * hour, to: from }));
        const shown = new Set(reading.lines.map((line) => line.id));
        expect(reading.lines.length).toBeLessThanOrEqual(10);
        expect(shown.size).toBe(reading.lines.length);
        for (const line of reading.lines) {
          const own = inTime.filter((entry) => lineOf(entry, by, shown) === line.id);
          expectFigures(line.totals, own);
          for (const point of line.points) {
            const inStep = own.filter((entry) => Math.floor(entry.at / stepMs) * stepMs === point.at);
            expect(inStep.length).toBeGreaterThan(0);
            expectFigures(point.figures, inStep);
          }
        }
        const counted = reading.lines.flatMap((line) => line.points).reduce((sum, p) => sum + p.figures.attempts, 0);
        expect(counted).toBe(inTime.length);
      }),
      { numRuns: runsOn(name, 80) },
    );
  });

  test("names lines, orders them by cost, and adds the workspace's name across workspaces", async () => {
    const { reports, acme } = fixture();
    const time = { from: newYear, to: newYear + 3 * day, stepMs: day };
    const own = await reports.usage({ ...time, workspaceId: acme.id, by: "key" });
    expect(own.lines.map((line) => line.label).toSorted()).toEqual(["ci", "key_gone", "later"]);
    const all = await reports.usage({ ...time, workspaceId: null, by: "key" });
    expect(all.lines.map((line) => line.label)).toContain("acme/ci");
    expect(all.lines.map((line) => line.label)).toContain("beta/ci");
    const costs = all.lines.map((line) => line.totals.cost_usd);
    expect(costs).toEqual(costs.toSorted((a, b) => b - a));
    const models = await reports.usage({ ...time, workspaceId: null, by: "model" });
    expect(models.lines.length).toBe(10);
    expect(models.lines.at(-1)).toMatchObject({ id: "", label: "Others" });
    const providers = await reports.usage({ ...time, workspaceId: null, by: "provider" });
    expect(providers.lines.map((line) => line.id).toSorted()).toEqual(["-", "p0", "p1", "p2"]);
  });

  test("names people by address, deleted people by key or id, and separates calls without a person", async () => {
    const { reports, database } = fixture();
    const moment = new Date(newYear).toISOString();
    const times = { created_at: moment, updated_at: moment };
    const person = { id: "usr_0", email: "ada@example.com", name: "Ada", email_verified: 1, ...times };
    await database.kysely
      .insertInto("auth_users")
      .values({ ...person, administrator: 0, disabled: 0 } as never)
      .execute();
    await database.kysely.updateTable("api_keys").set({ person_id: "usr_1" }).where("name", "=", "later").execute();
    const time = { from: newYear, to: newYear + 3 * day, stepMs: day };
    const { lines } = await reports.usage({ ...time, workspaceId: null, by: "person" });
    const labels = Object.fromEntries(lines.map(({ id, label }) => [id, label]));
    expect(labels).toEqual({
      "-": "No person",
      usr_0: "ada@example.com",
      usr_1: "later",
      usr_2: "usr_2",
      usr_3: "usr_3",
    });
    const { data } = await reports.requests({ workspaceId: null, personId: "usr_0" }, null, 3);
    expect(data.map((row) => row.person)).toEqual(
      Array(3).fill({ id: "usr_0", email: "ada@example.com", name: "Ada" }),
    );
    await database.kysely.updateTable("api_keys").set({ person_id: null }).execute();
  });

  test("returns percentiles within 2 % for successful requests as callers saw them, and for attempts", async () => {
    const { reports, entries } = fixture();
    // Days come from stored sums, and five minutes from the entries.
    for (const [stepMs, hours] of [
      [day, 72],
      [300_000, 6],
    ] as const) {
      const filter = { workspaceId: null, by: "model" as const, stepMs, from: newYear, to: newYear + hours * hour };
      const reading = await reports.usage(filter);
      expect(reading.stepMs).toBe(stepMs);
      const inTime = matching(entries, filter);
      expectTimes(reading.totals, inTime);
      for (const line of reading.lines.filter(({ id }) => id !== "")) {
        expectTimes(
          line.totals,
          inTime.filter((entry) => entry.model === line.id),
        );
      }
    }
  });

  test("returns no lines and no latency for a period without calls", async () => {
    const { reports } = fixture();
    const far = newYear + 400 * day;
    const reading = await reports.usage({ workspaceId: null, by: "model", stepMs: day, from: far, to: far + day });
    expect(reading.lines).toEqual([]);
    expect(reading.totals).toMatchObject({ attempts: 0, cost_usd: 0, latency_p50_ms: null });
  });
}

export function matching(entries: readonly LedgerEntry[], filter: UsageFilter): readonly LedgerEntry[] {
  const { workspaceId, model, personId, tag = "", tagValue, userAgent, endpoint, from, to } = filter;
  return entries.filter(
    (entry) =>
      entry.at >= from &&
      entry.at < to &&
      (workspaceId === null || entry.workspaceId === workspaceId) &&
      (personId === undefined || entry.personId === personId) &&
      (tagValue === undefined || (entry.tags[tag] ?? "") === tagValue) &&
      (userAgent === undefined || userAgentFamily(entry.userAgent) === userAgent) &&
      (endpoint === undefined || entry.endpoint === endpoint) &&
      (model === undefined || entry.model === model),
  );
}

function lineOf(entry: LedgerEntry, by: UsageDimension, shown: ReadonlySet<string>): string {
  if (by === "none") return "";
  const id = columnOf[by](entry) || "-";
  return shown.has(id) ? id : "";
}

export function expectFigures(figures: UsageFigures, entries: readonly LedgerEntry[]): void {
  const sum = (of: (entry: LedgerEntry) => number) => entries.reduce((all, entry) => all + of(entry), 0);
  expect(figures).toMatchObject({
    attempts: sum((entry) => entry.calls ?? 1),
    requests: sum((entry) => (entry.retryIndex === 0 ? 1 : 0)),
    succeeded: sum((entry) => (entry.outcome === "succeeded" ? (entry.calls ?? 1) : 0)),
    failed: sum((entry) => (entry.outcome === "succeeded" || entry.outcome === "cancelled" ? 0 : (entry.calls ?? 1))),
    cancelled: sum((entry) => (entry.outcome === "cancelled" ? (entry.calls ?? 1) : 0)),
    failed_requests: Math.max(
      0,
      sum((entry) => (entry.retryIndex === 0 ? (entry.calls ?? 1) : 0)) -
        sum((entry) => (entry.outcome === "succeeded" || entry.outcome === "cancelled" ? (entry.calls ?? 1) : 0)),
    ),
    input_tokens: sum(({ usage }) => usage.inputUncached + usage.cacheRead),
    cached_tokens: sum(({ usage }) => usage.cacheRead),
    output_tokens: sum(({ usage }) => usage.output),
    video_seconds: sum(({ usage }) => usage.videoSeconds),
    cache_saved_usd: nanoToUsd(sum(({ cacheSavedNanoUsd }) => cacheSavedNanoUsd ?? 0)),
    ...costsOf(entries),
  });
}

/** The vendor's reported cost and our own cost for the same calls, or null where nothing was reported. */
export function costsOf(entries: readonly LedgerEntry[]) {
  const sum = (of: (entry: LedgerEntry) => number | undefined) =>
    nanoToUsd(entries.reduce((total, entry) => total + (of(entry) ?? 0), 0));
  const isReported = entries.some(({ vendorCostNanoUsd }) => vendorCostNanoUsd !== undefined);
  const own = (entry: LedgerEntry) => (entry.costSource === "vendor" ? entry.ownCostNanoUsd : entry.costNanoUsd);
  return {
    cost_usd: sum(({ costNanoUsd }) => costNanoUsd),
    vendor_cost_usd: isReported ? sum(({ vendorCostNanoUsd }) => vendorCostNanoUsd) : null,
    own_cost_usd: isReported ? sum((entry) => (entry.vendorCostNanoUsd === undefined ? 0 : own(entry))) : null,
  };
}

/** Compares with the exact percentiles: the shortest time that is not exceeded by a share of all times. */
function expectTimes(figures: UsageFigures, entries: readonly LedgerEntry[]): void {
  const good = entries.filter((entry) => entry.outcome === "succeeded" && entry.calls !== 0);
  const streamed = good.flatMap(({ startedAfterMs, firstTokenMs }) =>
    firstTokenMs === null ? [] : [{ before: startedAfterMs, ms: firstTokenMs }],
  );
  for (const [figure, times, share] of [
    [figures.latency_p50_ms, good.map(({ totalMs }) => totalMs), 0.5],
    [figures.latency_p95_ms, good.map(({ totalMs }) => totalMs), 0.95],
    [figures.first_token_p50_ms, streamed.map(({ ms }) => ms), 0.5],
    [figures.first_token_p95_ms, streamed.map(({ ms }) => ms), 0.95],
    [figures.request_latency_p50_ms, good.map((entry) => entry.startedAfterMs + entry.totalMs), 0.5],
    [figures.request_latency_p95_ms, good.map((entry) => entry.startedAfterMs + entry.totalMs), 0.95],
    [figures.request_first_token_p50_ms, streamed.map(({ before, ms }) => before + ms), 0.5],
    [figures.request_first_token_p95_ms, streamed.map(({ before, ms }) => before + ms), 0.95],
  ] as const) {
    const exact = times.toSorted((a, b) => a - b)[Math.ceil(share * times.length) - 1];
    if (exact === undefined) expect(figure).toBeNull();
    else expect(Math.abs((figure ?? Number.NaN) - exact) / exact).toBeLessThanOrEqual(0.02);
  }
}
