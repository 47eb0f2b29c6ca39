import { describe, expect, test } from "bun:test";
import type { AuditObject, CaptureDetail, Explanation, UsageRow } from "@sluice/contract";
import { bounds, type LedgerEntry, noUsage } from "#core/index.ts";
import { createReportStore } from "#storage/index.ts";
import { ledgerEntry, newYear, silentObserver } from "../conformance/store-fixture.ts";
import { type ConsoleFixture, openConsoleFixture } from "../console-fixture.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const acme = { workspace: "acme" };
const all = { workspace: "-" };

const capture: CaptureDetail = {
  request_headers: [["content-type", "application/json"]],
  response_headers: [],
  request_body: '{"model":"gpt-5"}',
  request_bytes: 17,
  response_body: null,
  response_bytes: null,
  truncated: false,
  expires_at: newYear + day,
};
const why: Explanation = { plan: [], refusal: null, failures: [], walk: [], steps: [] };

interface ReportsFixture extends ConsoleFixture {
  add(name: string, changes?: Partial<LedgerEntry>): Promise<void>;
}

/** With the real reports; one request has a captured body. */
async function openReports(): Promise<ReportsFixture> {
  let close = async (): Promise<void> => undefined;
  const fixture = await openConsoleFixture((gateway) => {
    const reports = createReportStore({ ...gateway, observer: silentObserver });
    close = () => reports.close();
    const explain = {
      explanation: async (id: string) => (id === "req_kept" ? why : null),
      capture: async (id: string) => (id === "req_kept" ? capture : null),
    };
    return { reports, explain };
  });
  return {
    ...fixture,
    async add(name, changes = {}) {
      await fixture.ledgerStore.insert([ledgerEntry(name, { workspaceId: fixture.acme.id, ...changes })]);
    },
    async [Symbol.asyncDispose]() {
      await close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

describe("request list", () => {
  test("lists the workspace's requests by page; an administrator may list all workspaces", async () => {
    await using fixture = await openReports();
    for (let n = 0; n < 5; n++) await fixture.add(`mine${n}`, { at: newYear + n });
    await fixture.add("other", { at: newYear + 9, workspaceId: fixture.other.id, outcome: "failed" });
    const first = await fixture.call("viewer", "requests.list", { params: acme, query: { limit: 3 } });
    expect(first.body.data.map((row: { attempt_id: string }) => row.attempt_id)).toEqual([
      "att_mine4",
      "att_mine3",
      "att_mine2",
    ]);
    const query = { limit: 3, cursor: first.body.next };
    const second = await fixture.call("viewer", "requests.list", { params: acme, query });
    expect(second.body.data.map((row: { attempt_id: string }) => row.attempt_id)).toEqual(["att_mine1", "att_mine0"]);
    expect(second.body.next).toBeNull();
    const failed = { params: all, query: { outcome: "unsuccessful" } } as const;
    const everywhere = await fixture.call("administrator", "requests.list", failed);
    expect(everywhere.body.data.map((row: { workspace: object }) => row.workspace)).toEqual([
      { id: fixture.other.id, slug: "other" },
    ]);
    expect((await fixture.call("owner", "requests.list", failed)).code).toBe("forbidden");
  });

  test("shows a request with its attempts and routing reasons; returns 404 for another workspace", async () => {
    await using fixture = await openReports();
    await fixture.add("kept", { requestId: "req_kept" });
    const params = { ...acme, request: "req_kept" };
    const shown = await fixture.call("viewer", "requests.show", { params });
    expect(shown.body).toMatchObject({ request_id: "req_kept", explanation: why, workspace: { slug: "acme" } });
    expect(shown.body.attempts.map((attempt: { attempt_id: string }) => attempt.attempt_id)).toEqual(["att_kept"]);
    expect((await fixture.call("administrator", "requests.show", { params: { ...params, ...all } })).status).toBe(200);
    for (const [who, workspace, request] of [
      ["stranger", "other", "req_kept"],
      ["viewer", "acme", "req_none"],
    ] as const) {
      const missing = await fixture.call(who, "requests.show", { params: { workspace, request } });
      expect([missing.status, missing.code, missing.param]).toEqual([404, "not_found", "request"]);
    }
  });

  test("shows captured bodies to admins only, with an audit row for each view", async () => {
    await using fixture = await openReports();
    await fixture.add("kept", { requestId: "req_kept" });
    const params = { ...acme, request: "req_kept" };
    const seen = (await fixture.audit()).length;
    const member = await fixture.call("member", "requests.show", { params });
    expect(member.body).not.toHaveProperty("capture");
    expect((await fixture.audit()).length).toBe(seen);
    const admin = await fixture.call("admin", "requests.show", { params, ip: "192.0.2.9" });
    expect(admin.body.capture).toEqual(capture);
    expect((await fixture.audit()).slice(seen)).toMatchObject([
      { actor: "admin@example.com", ip: "192.0.2.9", action: "view", object: "captured request req_kept" },
    ]);
  });

  test("answers an invalid query with what is wrong", async () => {
    await using fixture = await openReports();
    for (const [query, param] of [
      [{ cursor: "nonsense" }, "cursor"],
      [{ limit: 0 }, "limit"],
      [{ limit: 1_000 }, "limit"],
      [{ outcome: "lost" }, "outcome"],
      [{ min_ms: "slow" }, "min_ms"],
      [{ from: "yesterday" }, "from"],
    ] as const) {
      const refused = await fixture.call("viewer", "requests.list", { params: acme, query: query as never });
      expect([refused.status, refused.code, refused.param]).toEqual([400, "invalid_request", param]);
    }
    const missing = await fixture.call("viewer", "usage.series", { params: acme, query: {} as never });
    expect(missing).toMatchObject({ status: 400, code: "missing_required_parameter", param: "from" });
  });
});

describe("usage", () => {
  test("returns whole steps, including those without calls", async () => {
    await using fixture = await openReports();
    fixture.clock.jump(30 * day);
    await fixture.add("a", { at: newYear + 5 * hour, costNanoUsd: 2_000_000_000 });
    await fixture.add("b", { at: newYear + 2 * day, model: "gpt-5-mini", costNanoUsd: 1_000_000_000 });
    const query = { from: newYear + hour, to: newYear + 3 * day - 1, step: "day", by: "model" } as const;
    const { body } = await fixture.call("viewer", "usage.series", { params: acme, query });
    expect([body.from, body.to, body.step_ms]).toEqual([newYear, newYear + 3 * day, day]);
    expect(body.at).toEqual([newYear, newYear + day, newYear + 2 * day]);
    const lines = body.series.map((line: { label: string; points: { cost_usd: (number | null)[] } }) => [
      line.label,
      ...line.points.cost_usd,
    ]);
    expect(lines).toEqual([
      ["gpt-5", 2, null, null],
      ["gpt-5-mini", null, null, 1],
    ]);
    expect(body.totals).toMatchObject({ requests: 2, cost_usd: 3 });
  });

  test("shows how much input came from caches", async () => {
    await using fixture = await openReports();
    fixture.clock.jump(day);
    const used = (inputUncached: number, cacheRead: number, cacheReadAudio: number) => ({
      ...{ ...noUsage, inputUncached, cacheRead, cacheReadAudio },
    });
    await fixture.add("a", { at: newYear + hour, usage: used(10, 85, 5), cacheSavedNanoUsd: 3_000_000_000 });
    await fixture.add("b", { at: newYear + hour, usage: used(100, 0, 0), model: "gpt-5-mini" });
    await fixture.add("c", { at: newYear + hour, usage: noUsage, cacheSavedNanoUsd: -500_000_000, model: "gpt-5-pro" });
    const query = { from: newYear, to: newYear + day };
    const { body } = await fixture.call("viewer", "usage.series", { params: acme, query });
    expect(body.totals).toMatchObject({ input_tokens: 200, cached_tokens: 90, cache_read_share: 0.45 });
    expect(body.totals.cache_saved_usd).toBe(2.5);
    const rows = await fixture.call("viewer", "usage.rows", {
      params: acme,
      query: { ...query, by: "model", sort: "cache_saved_usd" },
    });
    const saved = rows.body.data.map(({ id, figures }: UsageRow) => [id, figures.cache_saved_usd]);
    expect(saved).toEqual([
      ["gpt-5-pro", -0.5],
      ["gpt-5-mini", 0],
      ["gpt-5", 3],
    ]);
  });

  test("shows how much of the output was reasoning, over time and by model", async () => {
    await using fixture = await openReports();
    fixture.clock.jump(day);
    const used = (output: number, reasoning: number, separateReasoning: number) => ({
      ...{ ...noUsage, output, reasoning, separateReasoning },
    });
    await fixture.add("a", { at: newYear + hour, usage: used(100, 40, 0) });
    await fixture.add("b", { at: newYear + 2 * hour, usage: used(60, 0, 40), model: "sonar" });
    await fixture.add("c", { at: newYear + 3 * hour, usage: noUsage, model: "plain" });
    const query = { from: newYear, to: newYear + 4 * hour };
    const measures = "reasoning_tokens,reasoning_share";
    const { body } = await fixture.call("viewer", "usage.series", {
      params: acme,
      query: { ...query, step: "hour", measures },
    });
    expect(body.totals).toMatchObject({ output_tokens: 200, reasoning_tokens: 80, reasoning_share: 0.4 });
    expect(body.series[0]?.points).toEqual({
      reasoning_tokens: [null, 40, 40, 0],
      reasoning_share: [null, 0.4, 0.4, null],
    });
    for (const sort of ["-reasoning_tokens", "-reasoning_share"] as const) {
      const rows = await fixture.call("viewer", "usage.rows", { params: acme, query: { ...query, by: "model", sort } });
      expect(rows.body.data.at(-1)?.id).toBe("plain");
    }
  });

  test("shows costs reported by vendors beside ours, by time, key, provider and model", async () => {
    await using fixture = await openReports();
    fixture.clock.jump(day);
    const at = newYear + hour;
    const vendor = { costSource: "vendor", costNanoUsd: 5e9, vendorCostNanoUsd: 5e9, ownCostNanoUsd: 4e9 } as const;
    await fixture.add("a", { at, provider: "router", ...vendor });
    await fixture.add("b", { at, provider: "router", costNanoUsd: 2e9, vendorCostNanoUsd: 1e9 });
    await fixture.add("c", { at, provider: "router", costNanoUsd: 7e9 });
    await fixture.add("d", { at, provider: "plain", costNanoUsd: 3e9 });
    const query = { from: newYear, to: newYear + day };
    const { body } = await fixture.call("viewer", "usage.series", {
      params: acme,
      query: { ...query, by: "provider" },
    });
    const expected = { cost_usd: 14, vendor_cost_usd: 6, own_cost_usd: 6 };
    const silent = { cost_usd: 3, vendor_cost_usd: null, own_cost_usd: null };
    expect(body.totals).toMatchObject({ ...expected, cost_usd: 17 });
    expect(body.series.map(({ totals }: { totals: object }) => totals)).toMatchObject([expected, silent]);
    const costs = await fixture.call("viewer", "usage.costs", { params: acme, query });
    expect(costs.body.data).toEqual([
      { provider: "router", model: "gpt-5", attempts: 3, ...expected },
      { provider: "plain", model: "gpt-5", attempts: 1, ...silent },
    ]);
    const turned = await fixture.call("viewer", "usage.costs", { params: acme, query: { from: 2, to: 1 } });
    expect(turned.status).toBe(400);
  });

  test("compares a period that has not ended with an equally long one before it", async () => {
    await using fixture = await openReports();
    fixture.clock.jump(10 * day + 6 * hour - 1);
    const today = newYear + 10 * day;
    await fixture.add("now", { at: today + hour });
    await fixture.add("before", { at: today - 6 * hour });
    await fixture.add("long before", { at: today - 7 * hour });
    const query = { from: today, to: today + day, step: "day" } as const;
    const { body } = await fixture.call("viewer", "usage.series", { params: acme, query });
    expect([body.totals.attempts, body.previous.attempts]).toEqual([1, 1]);
  });

  test("uses hours for days and days for weeks, and refuses more steps than a chart can show", async () => {
    await using fixture = await openReports();
    const stepsOf = async (query: { from: number; to: number; step?: "hour" | "day" }) =>
      await fixture.call("viewer", "usage.series", { params: acme, query });
    expect((await stepsOf({ from: newYear, to: newYear + day })).body.step_ms).toBe(hour);
    expect((await stepsOf({ from: newYear, to: newYear + 30 * day })).body.step_ms).toBe(day);
    const most = bounds.usageStepsMax * hour;
    expect((await stepsOf({ from: newYear, to: newYear + most, step: "hour" })).status).toBe(200);
    for (const query of [
      { from: newYear, to: newYear + most + 1, step: "hour" },
      { from: newYear, to: newYear },
      { from: newYear + 1, to: newYear },
    ] as const) {
      expect((await stepsOf(query)).code).toBe("invalid_request");
    }
  });

  test("returns short periods by the minute, and refuses more than six hours of them", async () => {
    await using fixture = await openReports();
    fixture.clock.jump(30 * day);
    const now = newYear + 2 * hour + 7 * minute;
    await fixture.add("a", { at: now - minute });
    await fixture.add("b", { at: now - hour });
    await fixture.add("before", { at: now - hour - 1 });
    const stepsOf = async (length: number, step?: "minute" | "hour") =>
      await fixture.call("viewer", "usage.series", {
        params: acme,
        query: { from: now - length, to: now, step, measures: "attempts" },
      });
    const { body } = await stepsOf(hour);
    expect([body.from, body.to, body.step_ms, body.at.length]).toEqual([now - hour, now, minute, 60]);
    expect([body.totals.attempts, body.previous.attempts]).toEqual([2, 1]);
    const { points } = body.series[0] as { points: { attempts: (number | null)[] } };
    expect(points.attempts).toEqual([1, ...Array(58).fill(null), 1]);
    for (const [length, minutes, count] of [
      [30 * minute, 1, 30],
      [90 * minute, 1, 90],
      [3 * hour, 2, 91],
      [6 * hour, 5, 73],
    ] as const) {
      const { body } = await stepsOf(length, "minute");
      expect([body.step_ms, body.at.length]).toEqual([minutes * minute, count]);
    }
    expect((await stepsOf(hour, "hour")).body.step_ms).toBe(hour);
    const long = await stepsOf(6 * hour + 1, "minute");
    expect([long.code, long.param]).toEqual(["invalid_request", "step"]);
  });

  test("reports how long callers waited and how long attempts took, within 2 %", async () => {
    await using fixture = await openReports();
    const retried = { requestId: "req_a", at: newYear };
    await fixture.add("a0", { ...retried, outcome: "failed", httpStatus: 502, totalMs: 3_000, startedAfterMs: 1 });
    await fixture.add("a1", { ...retried, retryIndex: 1, totalMs: 500, firstTokenMs: 100, startedAfterMs: 3_000 });
    const query = { from: newYear, to: newYear + hour, step: "hour" } as const;
    const { totals } = (await fixture.call("viewer", "usage.series", { params: acme, query })).body;
    expect(totals).toMatchObject({
      requests: 1,
      attempts: 2,
      failed: 1,
      failed_requests: 0,
    });
    for (const [figure, truth] of [
      ["latency_p50_ms", 500],
      ["first_token_p95_ms", 100],
      ["request_latency_p95_ms", 3_500],
      ["request_first_token_p50_ms", 3_100],
    ] as const) {
      expect(Math.abs(totals[figure] - truth) / truth).toBeLessThanOrEqual(0.02);
    }
  });

  test("returns hourly steps where entries were deleted, and reports that", async () => {
    await using fixture = await openReports();
    fixture.clock.jump(30 * day);
    await fixture.add("a", { at: newYear + 5 * minute });
    await fixture.ledgerStore.prune(newYear + hour);
    const query = { from: newYear + 10 * minute, to: newYear + 20 * minute, step: "minute" } as const;
    const { body } = await fixture.call("viewer", "usage.series", {
      params: acme,
      query: { ...query, measures: "attempts,requests" },
    });
    expect([body.from, body.to, body.step_ms, body.at]).toEqual([newYear, newYear + hour, hour, [newYear]]);
    expect(body.totals.attempts).toBe(1);
    expect(body.series[0].points).toEqual({ attempts: [1], requests: [1] });
  });

  test("groups and filters by tag, user agent and endpoint, and lists the names of tags", async () => {
    await using fixture = await openReports();
    fixture.clock.jump(day);
    const at = newYear + hour;
    const agent = { userAgent: "claude-cli/2.1.4 (external, cli)", endpoint: "messages" } as const;
    await fixture.add("a", { at, ...agent, tags: { team: "search" }, costNanoUsd: 3e9 });
    await fixture.add("b", { at, tags: { team: "ads" }, costNanoUsd: 2e9 });
    await fixture.add("c", { at, ...agent, costNanoUsd: 1e9 });
    const time = { from: newYear, to: newYear + day };
    const rows = async (query: object) => {
      const { body } = await fixture.call("viewer", "usage.rows", {
        params: acme,
        query: { ...time, ...query } as never,
      });
      return body.data.map((row: { id: string; figures: { cost_usd: number } }) => [row.id, row.figures.cost_usd]);
    };
    expect(await rows({ by: "tag", tag: "team" })).toEqual([
      ["search", 3],
      ["ads", 2],
      ["-", 1],
    ]);
    expect(await rows({ by: "user_agent", sort: "cost_usd" })).toEqual([
      ["openai-python", 2],
      ["claude-code", 4],
    ]);
    expect(await rows({ by: "endpoint", tag: "team", tag_value: "-" })).toEqual([["messages", 1]]);
    expect(await rows({ by: "tag", tag: "team", user_agent: "claude-code" })).toEqual([
      ["search", 3],
      ["-", 1],
    ]);
    const tags = await fixture.call("viewer", "usage.tags", { params: acme, query: time });
    expect(tags.body).toEqual({ data: ["team"] });
    for (const query of [{ by: "tag" }, { by: "model", tag_value: "x" }, { by: "tag", tag: '"' }]) {
      const refused = await fixture.call("viewer", "usage.rows", {
        params: acme,
        query: { ...time, ...query } as never,
      });
      expect([refused.status, refused.param]).toEqual([400, "tag"]);
    }
  });

  test("compares with any other period, and returns its steps", async () => {
    await using fixture = await openReports();
    fixture.clock.jump(90 * day);
    await fixture.add("a", { at: newYear + 40 * day, costNanoUsd: 5e9 });
    await fixture.add("b", { at: newYear + 2 * day, costNanoUsd: 3e9 });
    const query = {
      from: newYear + 31 * day,
      to: newYear + 59 * day,
      step: "day",
      compare_from: newYear,
      compare_to: newYear + 31 * day,
    } as const;
    const { body } = await fixture.call("viewer", "usage.series", { params: acme, query });
    expect([body.totals.cost_usd, body.previous.cost_usd]).toEqual([5, 3]);
    expect(body.previous_period).toEqual({ from: newYear, to: newYear + 31 * day });
    expect(body.previous_points.cost_usd).toEqual([null, null, 3, ...Array(28).fill(null)]);
    const rows = await fixture.call("viewer", "usage.rows", {
      params: acme,
      query: { ...query, step: undefined, by: "model", compare: "true" } as never,
    });
    expect(rows.body.data[0]).toMatchObject({ figures: { cost_usd: 5 }, previous: { cost_usd: 3 } });
    expect(rows.body.previous).toMatchObject({ cost_usd: 3 });
  });

  test("begins days at midnight of a time zone, and refuses names that are none", async () => {
    await using fixture = await openReports();
    fixture.clock.jump(120 * day);
    const from = Date.UTC(2026, 2, 27, 23);
    for (const [name, at] of [
      ["first", from],
      ["last", Date.UTC(2026, 2, 29, 21)],
      ["after", Date.UTC(2026, 2, 29, 22)],
    ] as const) {
      await fixture.add(name, { at });
    }
    const query = { from, to: Date.UTC(2026, 2, 30, 21, 59), step: "day", measures: "requests" } as const;
    const ask = async (zone: string) =>
      await fixture.call("viewer", "usage.series", { params: acme, query: { ...query, time_zone: zone } });
    const { body } = await ask("Europe/Berlin");
    expect(body.at).toEqual([from, Date.UTC(2026, 2, 28, 23), Date.UTC(2026, 2, 29, 22)]);
    expect(body.to).toBe(Date.UTC(2026, 2, 30, 22));
    expect(body.series[0].points.requests).toEqual([1, 1, 1]);
    const wrong = await ask("Mars/Olympus");
    expect([wrong.status, wrong.param]).toEqual([400, "time_zone"]);
  });

  test("charges each month to groups, workspaces or tag values, with totals of the same sum", async () => {
    await using fixture = await openReports();
    fixture.clock.jump(90 * day);
    await fixture.add("a", { at: Date.UTC(2026, 0, 31, 23, 30), costNanoUsd: 1, tags: { team: "a" } });
    await fixture.add("b", { at: Date.UTC(2026, 1, 2), costNanoUsd: 2_000_000_003, tags: { team: "b" } });
    await fixture.add("c", { at: Date.UTC(2026, 1, 3), costNanoUsd: 5 });
    const ask = async (query: object) =>
      await fixture.call("viewer", "usage.chargeback", {
        params: acme,
        query: { from: "2026-01", to: "2026-02", ...query } as never,
      });
    const { body } = await ask({ by: "tag", tag: "team" });
    expect(body.months.map(({ month }: { month: string }) => month)).toEqual(["2026-01", "2026-02"]);
    expect(body.data).toEqual([
      { id: "b", label: "b", cost_usd: [0, 2.000000003], total_usd: 2.000000003 },
      { id: "-", label: "Without this tag", cost_usd: [0, 5e-9], total_usd: 5e-9 },
      { id: "a", label: "a", cost_usd: [1e-9, 0], total_usd: 1e-9 },
    ]);
    expect(body.totals).toEqual({ cost_usd: [1e-9, 2.000000008], total_usd: 2.000000009 });
    const filtered = await ask({ by: "workspace", tag: "team", tag_value: "b" });
    expect(filtered.body.totals.cost_usd).toEqual([0, 2.000000003]);
    expect((await ask({ by: "workspace", tag: "team", tag_value: "-" })).body.totals.cost_usd).toEqual([0, 5e-9]);
    const berlin = await ask({ by: "workspace", time_zone: "Europe/Berlin" });
    expect(berlin.body.totals.cost_usd).toEqual([0, 2.000000009]);
    for (const query of [
      { by: "tag" },
      { by: "group", tag_value: "b" },
      { by: "group", to: "2025-12" },
      { by: "group", to: "2027-01" },
    ]) {
      expect((await ask(query)).status).toBe(400);
    }
  });

  test("contains nothing of another workspace", async () => {
    await using fixture = await openReports();
    await fixture.add("mine");
    await fixture.add("other", { workspaceId: fixture.other.id });
    const query = { from: newYear, to: newYear + day, by: "workspace" } as const;
    const mine = await fixture.call("viewer", "usage.series", { params: acme, query });
    expect(mine.body.series.map((line: { label: string }) => line.label)).toEqual(["acme"]);
    const everywhere = await fixture.call("administrator", "usage.series", { params: all, query });
    expect(everywhere.body.totals.attempts).toBe(2);
    for (const id of ["usage.rows", "usage.chargeback"] as const) {
      const fields = id === "usage.rows" ? query : { by: "workspace", from: "2026-01", to: "2026-01" };
      const { body } = await fixture.call("viewer", id, { params: acme, query: fields as never });
      expect(body.data.map((row: { label: string }) => row.label)).toEqual(["acme"]);
      expect((await fixture.call("viewer", id, { params: all, query: fields as never })).status).toBe(403);
    }
  });
});

test("the audit log is for admins, within their workspace", async () => {
  await using fixture = await openReports();
  const auditSource = { actor: "ada", ip: null };
  const note = (workspaceId: string | null, object: AuditObject) =>
    fixture.people.note({ action: "download", object, workspaceId }, auditSource);
  await note(fixture.acme.id, "asset thing of acme");
  await note(fixture.other.id, "asset thing of other");
  await note(null, "asset group thing of the installation");
  const search = { query: { search: "thing", action: "download" } };
  const own = await fixture.call("admin", "audit.list", { params: acme, ...search });
  expect(own.body.data).toMatchObject([
    { object: "asset thing of acme", action: "download", target: { kind: "asset", name: "thing of acme" } },
  ]);
  const every = await fixture.call("administrator", "audit.list", { params: all, ...search });
  expect([own.body.total, every.body.total, every.body.more_than_total]).toEqual([1, 3, false]);
  expect(every.body.data.map((row: { object: string }) => row.object)).toEqual([
    "asset group thing of the installation",
    "asset thing of other",
    "asset thing of acme",
  ]);
  expect(every.body.data[0].target).toEqual({ kind: "asset_group", name: "thing of the installation" });
  expect((await fixture.call("member", "audit.list", { params: acme, ...search })).code).toBe("forbidden");
});
