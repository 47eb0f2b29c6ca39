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

/** How one cell did. */
export interface Cell {
  readonly row: Row;
  readonly column: Column;
  readonly served: boolean;
  /** Calls that were judged. */
  checks: number;
  readonly faults: string[];
}

/** What is judged once everything is over. `call` null: it failed, and nothing is charged. */
interface Booked {
  readonly cell: Cell;
  readonly requestId: string;
  readonly call: Call | null;
  readonly what: string;
}

/** Columns at the same time. */
const atOnce = 8;

/** Every call of every row against every column: first what must go well, then what must fail, then the ledger. */
export async function runCells(
  setup: TestSetup,
  rows: readonly Row[],
  columns: readonly Column[],
): Promise<readonly Cell[]> {
  const access: GatewayAccess = { url: setup.gateway.url, key: keys.main };
  const cells = columns.flatMap((column) =>
    rows.map((row): Cell => ({ row, column, served: column.served.has(row.endpoint), checks: 0, faults: [] })),
  );
  const booked: Booked[] = [];
  for (const phase of [answered, failed]) {
    const waiting = columns.values();
    const work = async (): Promise<void> => {
      for (const column of waiting) {
        for (const cell of cells.filter((one) => one.column === column)) await phase(access, cell, booked);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }
  await judge(setup, booked);
  return cells;
}

async function answered(access: GatewayAccess, cell: Cell, booked: Booked[]): Promise<void> {
  const { row, column, served } = cell;
  for (const version of row.versions) {
    for (const call of row.calls.filter(({ fits }) => fits?.(upstreamModel(column, row.endpoint)) ?? true)) {
      const what = `${call.name}, ${version}`;
      const clients = clientsOf(access, version);
      await check(cell, what, async () => {
        const asked = call.run(clients, modelOf(column, row.endpoint), column);
        if (!served && row.estimates !== true) return expectRefused(cell, await thrownBy(asked));
        await asked;
        const warned = clients.tape.last().headers.get("x-sluice-warnings") ?? "";
        expect(warned.includes("estimate")).toBe(!served);
        if (!served) return;
        for (const { headers } of clients.tape.exchanges) {
          const requestId = headers.get("x-request-id");
          // Before a form a client asks the runtime what it can.
          if (requestId !== null) booked.push({ cell, requestId, call, what });
        }
      });
      // A refusal is the same whatever is asked.
      if (!served && row.estimates !== true) break;
    }
  }
}

function expectRefused({ row }: Cell, thrown: unknown): void {
  const { status, kind, said } = errorFrom(thrown);
  expect([status, kind]).toEqual([400, kinds[row.client][400]]);
  expect(said).toContain("cannot be used on this endpoint");
}

const openAis = { 400: "BadRequestError", 429: "RateLimitError", 502: "InternalServerError" } as const;
const plain = (name: string) => ({ 400: name, 429: name, 502: name });
const kinds = { openai: openAis, anthropic: openAis, genai: plain("ApiError"), plain: plain("PlainError") } as const;

/** What the upstream says, and what the caller gets: an account's own trouble is none of the caller's. */
const failures = [
  [400, 400],
  [500, 502],
  [401, 502],
  [429, 429],
] as const;

async function failed(access: GatewayAccess, cell: Cell, booked: Booked[]): Promise<void> {
  const { row, column, served } = cell;
  const [call] = row.calls;
  if (!served || call === undefined) return;
  for (const version of row.versions) {
    for (const [status, told] of failures) {
      const what = `upstream ${status}, ${version}`;
      const clients = clientsOf(access, version, { status, ...(status === 429 ? { retry_after: 900 } : {}) });
      await check(cell, what, async () => {
        const thrown = await thrownBy(call.run(clients, modelOf(column, row.endpoint), column));
        const error = errorFrom(thrown);
        expect([error.status, error.kind]).toEqual([told, kinds[row.client][told]]);
        if (status === 400) expect(error.said).toContain("The request was refused (400).");
        booked.push({ cell, requestId: clients.tape.last().headers.get("x-request-id") ?? "", call: null, what });
      });
    }
  }
}

async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => new Error("it ended cleanly"),
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

type Used = Readonly<Record<string, number>>;
type BookedRow = LedgerRow & Readonly<Record<string, unknown>>;

/** The ledger against what the simulator says that it has served. */
async function judge({ gateway, simulator }: TestSetup, booked: readonly Booked[]): Promise<void> {
  const records = await simulator.settled();
  const truth = new Map(records.map((record): [string, TruthRecord] => [record.attempt_id, record]));
  const rows = (await exportLedger(gateway)) as readonly BookedRow[];
  const byRequest = Map.groupBy(rows, (row) => row.request_id);
  for (const { cell, requestId, call, what } of booked) {
    const found = byRequest.get(requestId) ?? [];
    await check(cell, `ledger of ${what}`, () => {
      expect(found.length).toBeGreaterThan(0);
      if (call === null) return expectFailed(cell, what, found);
      expect(found).toHaveLength(1);
      const [row] = found;
      const record = truth.get(row?.attempt_id ?? "");
      if (row === undefined || record === undefined) throw new Error("it is not in the truth");
      expectBooked(cell, row, call, call.used(record, cell.column));
    });
  }
}

/** Nothing is charged for a refusal; pictures may be made by the time of a 500, so that one is booked and not repeated. */
function expectFailed({ row: { endpoint } }: Cell, what: string, found: readonly BookedRow[]): void {
  expect(new Set(found.map(({ outcome }) => outcome))).toEqual(new Set(["failed"]));
  const guessed = endpoint.startsWith("image") && what.startsWith("upstream 500");
  expect(found.map((row) => row.usage_source)).toEqual(guessed ? ["estimated"] : found.map(() => "none"));
  if (!guessed) expect(found.map((row) => row.cost_nano_usd)).toEqual(found.map(() => 0));
}

function expectBooked({ row: { endpoint }, column }: Cell, row: BookedRow, { guessed }: Call, used: Used | null): void {
  expect([row["endpoint"], row.outcome, row.http_status]).toEqual([endpoint, "succeeded", 200]);
  expect(row.cost_nano_usd).toBe(costOf(row, priceOf(column, endpoint)));
  if (used === null) {
    expect(row.usage_source).toBe("estimated");
    expect(row).toMatchObject(guessed ?? {});
    expect(row.cost_nano_usd).toBeGreaterThan(0);
    return;
  }
  const counted = usageTable.map(({ column }) => [column, row[column]] as const).filter(([, count]) => count !== 0);
  const wanted = Object.entries(used).filter(([, count]) => count !== 0);
  expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(wanted));
}

/** Worked out apart from the gateway: whole pico-USD of each class, summed, rounded half up to nano-USD. */
function costOf(row: BookedRow, prices: Readonly<Record<string, number>>): number {
  const pico = usageTable.reduce((sum, { column, price: member, by }) => {
    const usd = member === null ? 0 : (prices[member] ?? 0);
    return sum + BigInt(Number(row[column])) * BigInt(Math.round(usd * picoFor[by]));
  }, 0n);
  return Number((pico + 500n) / 1_000n);
}

const picoFor = { one: 1e12, thousand: 1e9, million: 1e6 } as const;

/** The runner's colours and blank lines are for a terminal, not for a list. */
function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text
    .replaceAll(colour, "")
    .replaceAll(/\s*\n\s*/g, " ")
    .slice(0, 400);
}

const colour = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");
