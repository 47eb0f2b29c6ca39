import { type QueryInput, type UsageDimension, type UsageSort, usageDimensions, usageSorts } from "@sluice/contract";
import { useMemo } from "react";
import { localZone, type TimeSpan, useTimeRange } from "../../components/use-time-range.ts";
import { useUrlSearch } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { isMeasure, type Measure, measures } from "./measures.ts";

export const usageRange = "30d";

/** Filters of the page by their names in the URL and in the admin API. */
export const filterNames = [
  "model",
  "provider",
  "key",
  "group",
  "person",
  "user_agent",
  "endpoint",
  "tag_value",
] as const;
export type FilterName = (typeof filterNames)[number];
export type RowDimension = Exclude<UsageDimension, "none">;

/** The state of the page in its URL. */
export interface UsageView {
  readonly span: TimeSpan;
  readonly by: UsageDimension;
  readonly measure: Measure;
  readonly sort: UsageSort;
  readonly tag: string;
  readonly filters: Readonly<Partial<Record<FilterName, string>>>;
  /** The part of a query that all calls of the page share. */
  readonly query: Omit<QueryInput<"usage.rows">, "by">;
}

export function useUsageView(): UsageView {
  const span = useTimeRange(usageRange);
  const search = useUrlSearch();
  const { all, may } = useWorkspace();
  const admin = may("admin");
  return useMemo(() => {
    const named = usageDimensions.find((each) => each === search["by"]) ?? "model";
    const by = isOffered(named, all, admin) ? named : "model";
    const shown = search["show"] ?? "";
    const measure = isMeasure(shown) ? shown : "cost";
    const tag = search["tag"] ?? "";
    const filters = Object.fromEntries(
      filterNames.flatMap((name) => (search[name] ? [[name, search[name]]] : [])),
    ) as UsageView["filters"];
    const { tag_value: value, ...others } = filters;
    return {
      span,
      by,
      measure,
      sort: usageSorts.find((each) => each === search["order"]) ?? measures[measure].sort,
      tag,
      filters,
      query: {
        from: span.from,
        to: span.to,
        compare_from: span.compared.from,
        compare_to: span.compared.to,
        ...others,
        ...(tag === "" ? {} : { tag, ...(value === undefined ? {} : { tag_value: value }) }),
      },
    };
  }, [span, search, all, admin]);
}

function isOffered(by: UsageDimension, all: boolean, admin: boolean): boolean {
  return (all || by !== "workspace") && (by !== "person" || admin);
}

export function offeredDimensions(all: boolean, admin: boolean): readonly UsageDimension[] {
  return usageDimensions.filter((each) => isOffered(each, all, admin));
}

export function zoneOf({ utc }: TimeSpan): string {
  return utc ? "UTC" : localZone;
}

/** The period as URL parameters, for links to pages with another default period. */
export function spanSearch({ name, from, to, utc }: TimeSpan): Record<string, string> {
  const time = name === null ? { from: String(from), to: String(to) } : { range: name };
  return utc ? { ...time, tz: "utc" } : { ...time };
}

/** The URL's filter for a value of a dimension; null: it cannot be filtered by. */
export function filterFor(by: UsageDimension): FilterName | null {
  if (by === "tag") return "tag_value";
  return filterNames.find((each) => each === by) ?? null;
}

/** The dimension that shows what a value consists of. */
const nextDimension: Readonly<Record<RowDimension, RowDimension>> = {
  model: "key",
  provider: "model",
  key: "model",
  group: "key",
  workspace: "group",
  person: "model",
  tag: "model",
  user_agent: "key",
  endpoint: "model",
};

/** The URL parameters that show what a row consists of. A workspace is the one of all pages, named by its slug. */
export function drillDown(
  by: RowDimension,
  { id, label }: { readonly id: string; readonly label: string },
): Record<string, string> {
  const [name, value] = by === "workspace" ? [by, label] : [by === "tag" ? "tag_value" : by, id];
  return { [name]: value, by: nextDimension[by] };
}
