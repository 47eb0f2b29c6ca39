import type { AttemptDetail } from "@sluice/contract/console";
import {
  bounds,
  chargedPrices,
  nanoToUsd,
  type PriceTable,
  pricedClasses,
  type Usage,
  usageClasses,
} from "#core/index.ts";
import type { Row } from "../database/schema.ts";
import { ledgerColumns, shownFields, usageColumnOf, usageOf } from "../ledger/ledger-columns.ts";
import type { ReportContext } from "./report-desk.ts";
import { namesOf } from "./report-names.ts";
import { pendingOf } from "./report-pending.ts";
import { requestRowOf } from "./report-requests.ts";
import { equalsWithoutIndex } from "./report-search.ts";

/** Everything the ledger knows of one request. */
export async function attemptsOf(
  context: ReportContext,
  workspaceId: string | null,
  requestId: string,
): Promise<readonly AttemptDetail[]> {
  let query = context.connection
    .selectFrom("ledger_entries")
    .select(ledgerColumns)
    .where("request_id", "=", requestId)
    .orderBy("at")
    .orderBy("attempt_id")
    .limit(bounds.listPageMax);
  if (workspaceId !== null) query = query.where((eb) => equalsWithoutIndex(eb.ref("workspace_id"), workspaceId));
  const rows = [...(await query.execute()), ...(await pendingOf(context.connection, workspaceId, requestId))];
  const names = await namesOf(context.connection, rows);
  const details: AttemptDetail[] = [];
  for (const row of rows) {
    const version = row.price_version === null ? null : await context.price(row.price_version);
    details.push({ ...requestRowOf(row, names), ...detailOf(row), cost_lines: costLines(row, version?.table ?? {}) });
  }
  return details;
}

type Detail = Omit<AttemptDetail, keyof ReturnType<typeof requestRowOf> | "cost_lines">;

function detailOf(row: Row<"ledger_entries">): Detail {
  const usage = usageOf(row);
  return {
    ...shownFields("detail", row),
    usage: Object.fromEntries(used(usage).map((name) => [usageColumnOf[name], usage[name]])),
    vendor_cost_usd: row.vendor_cost_nano_usd === null ? null : nanoToUsd(row.vendor_cost_nano_usd),
    own_cost_usd: row.own_cost_nano_usd === null ? null : nanoToUsd(row.own_cost_nano_usd),
    reserved_usd: nanoToUsd(row.reserved_nano_usd),
  };
}

function used(usage: Usage): readonly (keyof Usage)[] {
  return usageClasses.filter((name) => usage[name] > 0);
}

/** A class without a price costs nothing, and says so. `reasoning` is paid as output. */
function costLines(row: Row<"ledger_entries">, table: PriceTable): AttemptDetail["cost_lines"] {
  const prices = chargedPrices(table, usageOf(row));
  return pricedClasses
    .map((name) => ({ column: usageColumnOf[name], pico: prices[name] ?? 0 }))
    .filter(({ column }) => row[column] > 0)
    .map(({ column, pico }) => ({
      class: column,
      units: row[column],
      unit_usd: pico / picoPerUsd,
      usd: (row[column] * pico) / picoPerUsd,
    }));
}

const picoPerUsd = 1e12;
