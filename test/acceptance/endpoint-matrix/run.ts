import { expect } from "bun:test";
import { usageTable } from "@sluice/contract/words";
import type { TruthRecord } from "@sluice/simulator";
import { exportLedger, type LedgerRow } from "../ledger-rows.ts";
import type { GatewayAccess } from "../matrix/gateway-access.ts";
import type { TestSetup } from "../open-setup.ts";
import { keys } from "../test-config.ts";
import { clientsOf, errorFrom } from "./clients.ts";
import { type Column, modelOf, priceOf, upstreamModel } from "./columns.ts";
import type { Call, Row } from "./row.ts";

/** The result of one cell. */
export interface Cell {
  readonly row: Row;
  readonly column: Column;
  readonly served: boolean;
  /** The number of checks made. */
  checks: number;
  readonly faults: string[];
}

/** A request to look up in the ledger at the end. `call` is null if it failed, so that nothing may be charged. */
interface LedgerCheck {
  readonly cell: Cell;
  readonly requestId: string;
  readonly call: Call | null;
  readonly what: string;
}

/** How many columns run in parallel. */
const concurrency = 8;

/** Makes every call of every row on every column: first successful calls, then failures; then checks the ledger. */
export async function runCells(
  setup: TestSetup,
  rows: readonly Row[],
  columns: readonly Column[],
): Promise<readonly Cell[]> {
  const access: GatewayAccess = { url: setup.gateway.url, key: keys.main };
  const cells = columns.flatMap((column) =>
    rows.map((row): Cell => ({ row, column, served: column.served.has(row.endpoint), checks: 0, faults: [] })),
  );
  const toCheck: LedgerCheck[] = [];
  for (const phase of [callServed, callFailing]) {
    const waiting = columns.values();
    const work = async (): Promise<void> => {
      for (const column of waiting) {
        for (const cell of cells.filter((candidate) => candidate.column === column)) await phase(access, cell, toCheck);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
  }
  await checkLedger(setup, toCheck);
  return cells;
}

async function callServed(access: GatewayAccess, cell: Cell, toCheck: LedgerCheck[]): Promise<void> {
  const { row, column, served } = cell;
  for (const version of row.versions) {
    for (const call of row.calls.filter(({ fits }) => fits?.(upstreamModel(column, row.endpoint)) ?? true)) {
      const what = `${call.name}, ${version}`;
      const clients = clientsOf(access, version);
      await check(cell, what, async () => {
        const pending = call.run(clients, modelOf(column, row.endpoint), column);
        if (!served && row.estimates !== true) return expectRefused(cell, await thrownBy(pending));
        await pending;
        const warned = clients.recorder.last().headers.get("x-sluice-warnings") ?? "";
        expect(warned.includes("estimate")).toBe(!served);
        if (!served) return;
        for (const { headers } of clients.recorder.exchanges) {
          const requestId = headers.get("x-request-id");
          // Before sending a form, a client first makes a request to find out what the runtime supports.
          if (requestId !== null) toCheck.push({ cell, requestId, call, what });
        }
      });
      // The endpoint is refused for every call alike.
      if (!served && row.estimates !== true) break;
    }
  }
}

function expectRefused({ row }: Cell, thrown: unknown): void {
  const { status, kind, message } = errorFrom(thrown);
  expect([status, kind]).toEqual([400, kindsOf(row)[400]]);
  expect(message).toContain("cannot be used on this endpoint");
}

const openAis = { 400: "BadRequestError", 429: "RateLimitError", 502: "InternalServerError" } as const;
const plain = (name: string) => ({ 400: name, 429: name, 502: name });
const kinds = { openai: openAis, anthropic: openAis, genai: plain("ApiError"), plain: plain("PlainError") } as const;

/** Google's newer endpoints have error classes named like OpenAI's. */
function kindsOf({ client, endpoint }: Row) {
  return endpoint === "gemini-decisions" ? openAis : kinds[client];
}

/** The upstream's status and the caller's; the caller is not to blame for a provider's key or server error. */
const failures = [
  [400, 400],
  [500, 502],
  [401, 502],
  [429, 429],
] as const;

async function callFailing(access: GatewayAccess, cell: Cell, toCheck: LedgerCheck[]): Promise<void> {
  const { row, column, served } = cell;
  const [call] = row.calls;
  if (!served || call === undefined) return;
  for (const version of row.versions) {
    for (const [status, expected] of failures) {
      const what = `upstream ${status}, ${version}`;
      const clients = clientsOf(access, version, { status, ...(status === 429 ? { retry_after: 900 } : {}) });
      await check(cell, what, async () => {
        const thrown = await thrownBy(call.run(clients, modelOf(column, row.endpoint), column));
        const error = errorFrom(thrown);
        expect([error.status, error.kind]).toEqual([expected, kindsOf(row)[expected]]);
        if (status === 400) expect(error.message).toContain("The request was refused (400).");
        toCheck.push({ cell, requestId: clients.recorder.last().headers.get("x-request-id") ?? "", call: null, what });
      });
    }
  }
}

async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => new Error("the call succeeded"),
    (reason: unknown) => reason,
  );
}

async function check(cell: Cell, what: string, act: () => Promise<void> | void): Promise<void> {
  cell.checks++;
  try {
    await act();
  } catch (thrown) {
    cell.faults.push(`${what}: ${messageOf(thrown)}`);
  }
}

type Usage = Readonly<Record<string, number>>;
type FullRow = LedgerRow & Readonly<Record<string, unknown>>;

/** Compares the ledger with what the simulator served. */
async function checkLedger({ gateway, simulator }: TestSetup, toCheck: readonly LedgerCheck[]): Promise<void> {
  const records = await simulator.settled();
  const truth = new Map(records.map((record): [string, TruthRecord] => [record.attempt_id, record]));
  const rows = (await exportLedger(gateway)) as readonly FullRow[];
  const byRequest = Map.groupBy(rows, (row) => row.request_id);
  for (const { cell, requestId, call, what } of toCheck) {
    const found = byRequest.get(requestId) ?? [];
    await check(cell, `ledger of ${what}`, () => {
      expect(found.length).toBeGreaterThan(0);
      if (call === null) return expectFailed(cell, what, found);
      expect(found).toHaveLength(1);
      const [row] = found;
      const record = truth.get(row?.attempt_id ?? "");
      if (row === undefined || record === undefined) throw new Error("the attempt is not in the simulator's records");
      expectCharged(cell, row, call, call.expectedUsage(record, cell.column));
    });
  }
}

/** Failures cost nothing, except that images may have been generated before a 500: it is charged by estimate and not retried. */
function expectFailed({ row: { endpoint } }: Cell, what: string, found: readonly FullRow[]): void {
  expect(new Set(found.map(({ outcome }) => outcome))).toEqual(new Set(["failed"]));
  const estimatedUsage = endpoint.startsWith("image") && what.startsWith("upstream 500");
  expect(found.map((row) => row.usage_source)).toEqual(estimatedUsage ? ["estimated"] : found.map(() => "none"));
  if (!estimatedUsage) expect(found.map((row) => row.cost_nano_usd)).toEqual(found.map(() => 0));
}

function expectCharged(
  { row: { endpoint }, column }: Cell,
  row: FullRow,
  { estimatedUsage }: Call,
  expectedUsage: Usage | null,
): void {
  expect([row["endpoint"], row.outcome, row.http_status]).toEqual([endpoint, "succeeded", 200]);
  expect(row.cost_nano_usd).toBe(costOf(row, priceOf(column, endpoint)));
  if (expectedUsage === null) {
    expect(row.usage_source).toBe("estimated");
    expect(row).toMatchObject(estimatedUsage ?? {});
    expect(row.cost_nano_usd).toBeGreaterThan(0);
    return;
  }
  const counted = usageTable.map(({ column }) => [column, row[column]] as const).filter(([, count]) => count !== 0);
  const expected = Object.entries(expectedUsage).filter(([, count]) => count !== 0);
  expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(expected));
}

/** Computed independently of the gateway: pico-USD of each usage class, summed, and rounded half up to nano-USD. */
function costOf(row: FullRow, prices: Readonly<Record<string, number>>): number {
  const pico = usageTable.reduce((sum, { column, price: member, by }) => {
    const usd = member === null ? 0 : (prices[member] ?? 0);
    return sum + BigInt(Number(row[column])) * BigInt(Math.round(usd * picoFor[by]));
  }, 0n);
  return Number((pico + 500n) / 1_000n);
}

const picoFor = { one: 1e12, thousand: 1e9, million: 1e6 } as const;

/** Removes the test runner's colors and line breaks from a message. */
function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text
    .replaceAll(colorCode, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .slice(0, 400);
}

const colorCode = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
