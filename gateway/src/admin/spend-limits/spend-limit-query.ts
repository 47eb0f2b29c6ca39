import { bounds, Failure } from "#core/index.ts";
import { type SpendPeriod, spendPeriods } from "./spend-limit.ts";

/** One page of things with ids, by the names that Anthropic's lists have. */
export function readPageQuery(query: URLSearchParams) {
  return { limit: limitOf(query), after: query.get("after_id"), before: query.get("before_id") };
}

/** Cuts a page out of all there are. Throws Failure for an id that none of them has. */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  { limit, after, before }: ReturnType<typeof readPageQuery>,
) {
  const end = before === null ? items.length : placeOf(items, before, "before_id");
  const start =
    after === null ? (before === null ? 0 : Math.max(0, end - limit)) : placeOf(items, after, "after_id") + 1;
  const data = items.slice(start, Math.min(end, start + limit));
  const more = after === null && before !== null ? start > 0 : start + limit < end;
  return { data, has_more: more, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

function placeOf(items: readonly { readonly id: string }[], id: string, param: string): number {
  const place = items.findIndex((item) => item.id === id);
  if (place === -1) throw new Failure("invalid_request", `${param}: there is no such spend limit.`, { param });
  return place;
}

export interface EffectiveQuery {
  readonly limit: number;
  /** The address that the page before ended with. */
  readonly after: string | null;
  readonly periods: readonly SpendPeriod[];
  /** null: everybody. */
  readonly userIds: ReadonlySet<string> | null;
}

export function readEffectiveQuery(query: URLSearchParams): EffectiveQuery {
  const page = query.get("page");
  const named = valuesOf(query, "period");
  const unknown = named.find((each) => !spendPeriods.some((period) => period === each));
  if (unknown !== undefined) {
    throw new Failure("invalid_request", `period: one of ${spendPeriods.join(", ")} is needed.`, { param: "period" });
  }
  const userIds = valuesOf(query, "user_ids");
  if (userIds.length > bounds.spendLimitPeopleMax) {
    throw new Failure("invalid_request", `user_ids: at most ${bounds.spendLimitPeopleMax} at once.`, {
      param: "user_ids",
    });
  }
  return {
    limit: Math.min(limitOf(query), bounds.spendLimitPeopleMax),
    after: page === null ? null : Buffer.from(page, "base64url").toString(),
    periods: named.length === 0 ? spendPeriods : spendPeriods.filter((period) => named.includes(period)),
    userIds: userIds.length === 0 ? null : new Set(userIds),
  };
}

export function cursorAfter(email: string): string {
  return Buffer.from(email).toString("base64url");
}

/** Lists come as `name[]=one&name[]=two`, and from some clients without the brackets. */
function valuesOf(query: URLSearchParams, name: string): readonly string[] {
  return [...query.getAll(`${name}[]`), ...query.getAll(name)];
}

function limitOf(query: URLSearchParams): number {
  const text = query.get("limit");
  const limit = text === null ? 20 : Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1_000) return limit;
  throw new Failure("invalid_request", "limit: a number from 1 to 1000 is needed.", { param: "limit" });
}
