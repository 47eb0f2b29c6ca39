import { type QueryInput, type SessionSort, sessionSorts } from "@sluice/contract";
import type { TimeSpan } from "../../../components/use-time-range.ts";
import type { Search } from "../../../routes/search.ts";

export type SessionQuery = NonNullable<QueryInput<"sessions.list">>;

/** URL parameters of the session filters. */
export const sessionFilters = ["search", "model", "key", "person", "agent"] as const;

export const usualOrder: SessionSort = "-last_at";

const longest = { search: 128, model: 256, key: 128, person: 128, agent: 64 } as const;

/** The query for the filters in the URL. Values that are too long are cut, because the gateway would refuse them. */
export function sessionQueryOf(search: Search, span: Pick<TimeSpan, "name" | "from" | "to">): SessionQuery {
  const texts = sessionFilters.flatMap((name) => {
    const text = (search[name] ?? "").trim().slice(0, longest[name]);
    return text === "" ? [] : [[name, text] as const];
  });
  const sort = sessionSorts.find((each) => each === search["order"]) ?? usualOrder;
  // A range that ends now has no end, so that new sessions are included.
  return { ...Object.fromEntries(texts), sort, from: span.from, ...(span.name === null ? { to: span.to } : {}) };
}
