import type { BillClass } from "@sluice/contract/words";
import {
  type BillLine,
  classNamed,
  countIn,
  dayOf,
  decimalToNano,
  type ExactObject,
  nextPageOf,
  objectOf,
  objectsOf,
  type ReportPage,
  requireUsd,
  textIn,
} from "../bill.ts";
import { tierOf, usageLines } from "./openai.ts";

// https://platform.claude.com/docs/en/api/admin-api/usage-cost

/** Pages of the analytics endpoints have rows; pages of the older reports have a bucket for each day, with its rows. */
export function anthropicPage(answer: unknown): ReportPage {
  const page = objectOf(answer);
  const rows = objectsOf(page["data"]).flatMap((row) => {
    if (!Array.isArray(row["results"])) return [row];
    return objectsOf(row["results"]).map((result) => ({ ...result, starting_at: row["starting_at"] }));
  });
  return { rows, next: nextPageOf(page) };
}

/** Rows of both cost reports. Amounts are texts in **cents**, with fractions: `"123.45"` is 1.2345 USD. */
export function anthropicCosts(rows: readonly ExactObject[]): readonly BillLine[] {
  return rows.flatMap((row): BillLine[] => {
    const day = dayOf(textIn(row, "starting_at") ?? "");
    // The older report has no `group` and no `cost`.
    const group = "group" in row ? objectOf(row["group"]) : row;
    const cost = "cost" in row ? objectOf(row["cost"]) : row;
    const costNanoUsd = decimalToNano(textIn(cost, "amount") ?? "", 2);
    requireUsd(textIn(cost, "currency"));
    if (day === null || costNanoUsd === null) return [];
    const model = textIn(group, "model") ?? "";
    const usageClass = classOfCost(group);
    return [{ day, model, usageClass, units: null, costNanoUsd, requests: null, tier: tierIn(group) }];
  });
}

function classOfCost(group: ExactObject): BillClass {
  const tokenType = textIn(group, "token_type");
  if (tokenType !== null) return classNamed(tokenType);
  const costType = textIn(group, "cost_type") ?? textIn(group, "description");
  return costType === null ? "other" : classNamed(costType);
}

/** Rows of both usage reports. Input excludes cached tokens. */
export function anthropicUsage(rows: readonly ExactObject[]): readonly BillLine[] {
  return rows.flatMap((row) => {
    const day = dayOf(textIn(row, "starting_at") ?? "");
    if (day === null) return [];
    const group = "group" in row ? objectOf(row["group"]) : row;
    const usage = "usage" in row ? objectOf(row["usage"]) : row;
    const count = (name: string) => countIn(usage, name) ?? 0;
    const written = objectOf(usage["cache_creation"]);
    const writes = ["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"].map(
      (name) => countIn(written, name) ?? 0,
    );
    const tools = objectOf(usage["server_tool_use"]);
    return usageLines(
      { day, model: textIn(group, "model") ?? "", tier: tierIn(group), requests: countIn(usage, "requests") },
      {
        input: count("uncached_input_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: writes.reduce((sum, tokens) => sum + tokens, 0),
        output: count("output_tokens"),
        tools: countIn(tools, "web_search_requests") ?? 0,
      },
    );
  });
}

function tierIn(group: ExactObject): string | null {
  const speed = textIn(group, "speed");
  return tierOf(speed === "fast" ? speed : textIn(group, "service_tier"));
}
