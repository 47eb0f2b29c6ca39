import { type FindingsDimension, findingsDimensions } from "@sluice/contract";
import { guardrailSides, guardrailVerdicts } from "@sluice/contract/words";
import { useMemo } from "react";
import { type TimeSpan, useTimeRange } from "../../components/use-time-range.ts";
import { type Search, useUrlSearch } from "../../routes/search.ts";

export const findingsRange = "7d";

/** Filters in the URL. `rule` is a guardrail: `guardrail` opens its form. */
export const findingsFilters = ["rule", "type", "verdict", "enforced", "side", "key", "person", "model"] as const;

export interface FindingsView {
  readonly span: TimeSpan;
  readonly by: FindingsDimension;
  /** The part of a query that all calls of the page share. */
  readonly query: FindingsQuery;
}

interface FindingsQuery {
  readonly from: number;
  readonly to: number;
  readonly guardrail?: string;
  readonly type?: string;
  readonly verdict?: (typeof guardrailVerdicts)[number];
  readonly enforced?: "true" | "false";
  readonly side?: (typeof guardrailSides)[number];
  readonly key?: string;
  readonly person?: string;
  readonly model?: string;
}

export function useFindingsView(): FindingsView {
  const span = useTimeRange(findingsRange);
  const search = useUrlSearch();
  return useMemo(
    () => ({
      span,
      by: findingsDimensions.find((each) => each === search["by"]) ?? "verdict",
      query: { from: span.from, to: span.to, ...filtersOf(search) },
    }),
    [span, search],
  );
}

/** Values that the gateway would refuse are left out. */
function filtersOf(search: Search): Omit<FindingsQuery, "from" | "to"> {
  const verdict = guardrailVerdicts.find((each) => each === search["verdict"]);
  const enforced = (["true", "false"] as const).find((each) => each === search["enforced"]);
  const side = guardrailSides.find((each) => each === search["side"]);
  const { rule: guardrail } = search;
  return {
    ...(guardrail ? { guardrail } : {}),
    ...(verdict === undefined ? {} : { verdict }),
    ...(enforced === undefined ? {} : { enforced }),
    ...(side === undefined ? {} : { side }),
    ...Object.fromEntries(
      (["type", "key", "person", "model"] as const).flatMap((name) => (search[name] ? [[name, search[name]]] : [])),
    ),
  };
}

/** The URL parameters that show only one value of the chart or of a table; null: it cannot be shown alone. */
export function narrowedTo(by: FindingsDimension, id: string): Record<string, string> | null {
  if (id === "" || id === "-") return null;
  if (by === "guardrail") return { rule: id };
  if (by !== "verdict") return { [by]: id };
  const [mode, verdict] = id.startsWith(shadowPrefix) ? ["false", id.slice(shadowPrefix.length)] : ["true", id];
  return { verdict, enforced: mode };
}

/** Of a verdict in shadow mode, in the series by verdict. */
export const shadowPrefix = "shadow:";
