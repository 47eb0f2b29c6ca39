import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LedgerEntry } from "#core/index.ts";
import { exportEntries } from "#ledger/index.ts";
import { hello, type StartedGateway, startGateway } from "../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({ drainThread: true });
});
afterAll(() => gateway.stop());

async function entriesOfLast(response: Response) {
  await response.text();
  const requestId = response.headers.get("x-request-id");
  const entries = (await gateway.entries()).filter((entry) => entry.requestId === requestId);
  return entries.toSorted((one, other) => one.retryIndex - other.retryIndex);
}

test("the caller's wait counts from the arrival of the call, including failed attempts and pauses between them", async () => {
  const before = await firstByteSeconds();
  const script = { name: "wait", fail_first: 1, status: 429, retry_after: 1, tokens: 2 };
  const [refused, served] = await entriesOfLast(await gateway.chat(hello, { script }));
  expect([refused?.outcome, served?.outcome]).toEqual(["failed", "succeeded"]);
  const waitedMs = served?.startedAfterMs ?? 0;
  expect(refused?.startedAfterMs ?? -1).toBeGreaterThanOrEqual(0);
  // Timers may fire a fraction of a millisecond early.
  expect(waitedMs).toBeGreaterThan(990);
  expect(waitedMs).toBeGreaterThan((refused?.startedAfterMs ?? 0) + (refused?.totalMs ?? 0));
  expect(await exported(served)).toMatchObject({
    started_after_ms: waitedMs,
    call_first_byte_ms: waitedMs + (served?.firstByteMs ?? Number.NaN),
    call_first_token_ms: null,
    call_total_ms: waitedMs + (served?.totalMs ?? Number.NaN),
  });
  // The metric counts the same.
  const metricSeconds = (await firstByteSeconds()) - before;
  expect(metricSeconds).toBeCloseTo((waitedMs + (served?.firstByteMs ?? 0)) / 1_000, 6);
});

test.each([
  ["whole", false],
  ["streamed", true],
])("no phase of a %s answer takes longer than the whole", async (_, stream) => {
  const [entry] = await entriesOfLast(await gateway.chat({ ...hello, stream }, { script: { tokens: 5 } }));
  const { totalMs, firstByteMs, firstTokenMs, upstreamMs, overheadMs } = entry ?? {};
  const total = totalMs ?? 0;
  for (const part of [firstByteMs, firstTokenMs ?? 0, upstreamMs])
    expect(part ?? Number.NaN).toBeLessThanOrEqual(total);
  if (stream) expect(firstTokenMs ?? 0).toBeGreaterThanOrEqual(firstByteMs ?? Number.NaN);
  expect(overheadMs).toBeGreaterThanOrEqual(0);
});

test.each([
  [{ status: 500 }, 502, 500],
  [{ status: 503 }, 503, 503],
  [{ status: 401 }, 502, 401],
  [{ status: 404 }, 404, 404],
  [{ drop: true }, 502, null],
  [{ malformed: true }, 502, 200],
  [{ tokens: 1 }, 200, 200],
] as const)("stores the upstream's status next to the caller's: %j", async (script, status, upstream) => {
  const response = await gateway.chat(hello, { script });
  expect(response.status).toBe(status);
  for (const entry of await entriesOfLast(response)) {
    expect([entry.httpStatus, entry.upstreamStatus]).toEqual([status, upstream]);
    expect(await exported(entry)).toMatchObject({ http_status: status, upstream_status: upstream });
  }
});

/** As an operator receives it in an export. */
async function exported(entry: LedgerEntry | undefined): Promise<unknown> {
  const { ledgerStore: store } = gateway.control;
  for await (const line of exportEntries({ store, filter: { requestId: entry?.requestId ?? "" }, format: "jsonl" })) {
    const row = JSON.parse(line);
    if (row.attempt_id === entry?.attemptId) return row;
  }
  return null;
}

/** The sum over all answers so far. */
async function firstByteSeconds(): Promise<number> {
  const text = await (await gateway.get("/metrics")).text();
  const sums = [...text.matchAll(/^sluice_first_byte_seconds_sum\{.*\} (\S+)$/gm)];
  return sums.reduce((sum, [, seconds]) => sum + Number(seconds), 0);
}
