import { expect, test } from "bun:test";
import type { LedgerRow } from "@sluice/contract";
import { ledgerTable, usageTable } from "@sluice/contract/words";
import type { LedgerEntry } from "#core/index.ts";
import type { LedgerPage } from "#ports/index.ts";
import { entryOf } from "../../test/ledger/history.ts";
import { type ExportFormat, exportEntries } from "./index.ts";

const store = (pages: readonly (readonly LedgerEntry[])[]) => ({
  page: (_filter: object, cursor: string | null): Promise<LedgerPage> => {
    const index = Number(cursor ?? 0);
    return Promise.resolve({
      entries: pages[index] ?? [],
      next: index + 1 < pages.length ? String(index + 1) : null,
    });
  },
});

async function exported(format: ExportFormat, ...pages: (readonly LedgerEntry[])[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportEntries({ store: store(pages), filter: {}, format })) lines.push(line);
  return lines;
}

test("exports every entry of every page as JSON lines with snake_case members", async () => {
  const lines = await exported("jsonl", [entryOf(1), entryOf(2)], [entryOf(3)]);
  expect(lines).toHaveLength(3);
  const row: unknown = JSON.parse(lines[2] ?? "");
  expect(row).toMatchObject({
    attempt_id: entryOf(3).attemptId,
    request_id: entryOf(3).requestId,
    outcome: "succeeded",
    input_uncached: 103,
    output: 23,
    cost_nano_usd: 103 * 1_250 + 23 * 10_000,
    first_token_ms: 30.25,
    tags: { team: "röd\n" },
    stream: false,
    error_code: null,
  });
});

test("exports all members of an entry and omits absent ones", async () => {
  const entry: LedgerEntry = { ...entryOf(1), calls: 3, warnings: ["seed was left out"], operation: "GET /files" };
  const [line = ""] = await exported("jsonl", [entry]);
  const row: Readonly<Record<string, unknown>> = JSON.parse(line);
  const { usage, ...others } = entry;
  for (const ledgerRow of ledgerTable) {
    const { member, column, kind } = ledgerRow;
    const absent = "absent" in ledgerRow ? ledgerRow.absent : null;
    if (kind === "usage") for (const each of usageTable) expect(row[each.column]).toBe(usage[each.name]);
    else expect([column, row[column]]).toEqual([column, others[member] ?? absent]);
  }
  // Three times are computed: they count from the arrival of the call.
  for (const worked of ["first_byte_ms", "first_token_ms", "total_ms"]) expect(row).toHaveProperty(`call_${worked}`);
  const [short = ""] = await exported("jsonl", [entryOf(1)]);
  expect(JSON.parse(short)).toMatchObject({ calls: 1, warnings: null, operation: null });
});

test("exports each ledger column, or the table gives a reason", async () => {
  const [header = ""] = await exported("csv");
  const columns = header.trimEnd().split(",");
  const rows: readonly LedgerRow[] = ledgerTable;
  const own = rows.flatMap(({ exported, kind, column }) => {
    if (exported !== true) return [];
    return kind === "usage" ? usageTable.map((each) => each.column) : [column];
  });
  expect(columns.filter((column) => !column.startsWith("call_"))).toEqual(own);
  for (const { exported } of rows) if (exported !== true) expect(exported.no).toMatch(/\w{3}/);
});

test("writes CSV with a header and one record per entry", async () => {
  const [header = "", line = ""] = await exported("csv", [{ ...entryOf(1), errorCode: 'a "b", c' }]);
  const columns = header.trimEnd().split(",");
  expect(columns.slice(0, 3)).toEqual(["attempt_id", "request_id", "at"]);
  expect(line).toContain(',"a ""b"", c",');
  // A quoted comma does not separate columns.
  expect(
    line
      .replaceAll(/"(?:[^"]|"")*"/g, "quoted")
      .trimEnd()
      .split(","),
  ).toHaveLength(columns.length);
  expect(await exported("csv")).toEqual([header]);
});

test("escapes cells that a spreadsheet would run as a formula", async () => {
  for (const userAgent of ['=HYPERLINK("http://x")', "+1", "-1", "@sum", "\t=1", "\r=1"]) {
    const [, line = ""] = await exported("csv", [{ ...entryOf(1), userAgent, requestedModel: userAgent }]);
    const start = userAgent.replaceAll('"', '""').slice(0, 2);
    expect(line).toContain(`'${start}`);
    expect(line).not.toMatch(/(?:^|,)"?[=+@\t\r]/);
  }
});
