import type { BudgetConfig } from "@sluice/contract/config-file";
import type { Member } from "@sluice/contract/console";
import { Failure, usdToNano } from "#core/index.ts";

/** People in one answer about spend limits. */
const spendLimitPeopleMax = 100;

/** The periods that there are on both sides. A budget in total has no name there. */
export const spendPeriods = ["daily", "weekly", "monthly"] as const;
export type SpendPeriod = (typeof spendPeriods)[number];

type BudgetPeriod = BudgetConfig["period"];

const budgetPeriods = { daily: "day", weekly: "week", monthly: "month" } as const satisfies Record<
  SpendPeriod,
  BudgetPeriod
>;

export function budgetPeriodOf(period: SpendPeriod): (typeof budgetPeriods)[SpendPeriod] {
  return budgetPeriods[period];
}

/** null: of a budget in total. */
export function spendPeriodOf(period: BudgetPeriod): SpendPeriod | null {
  return spendPeriods.find((each) => budgetPeriods[each] === period) ?? null;
}

/** The same for a person and a period at any time: nothing is stored for it. */
export function spendLimitId(userId: string, period: SpendPeriod): string {
  return `spl_${userId}_${period}`;
}

/** null: no id that there can be. */
export function readSpendLimitId(id: string): { readonly userId: string; readonly period: SpendPeriod } | null {
  const [, userId, period] = /^spl_(\w{1,64})_(daily|weekly|monthly)$/.exec(id) ?? [];
  return userId === undefined || period === undefined ? null : { userId, period: period as SpendPeriod };
}

/** Somebody's budget as a spend limit; null: they have none that can be said so. */
export function spendLimitOf({ id: userId, budget }: Pick<Member, "id" | "budget">) {
  const period = budget === null ? null : spendPeriodOf(budget.period);
  if (budget === null || period === null) return null;
  return {
    type: "spend_limit",
    id: spendLimitId(userId, period),
    // When it was set stands in the audit log alone.
    created_at: null,
    updated_at: null,
    scope: userScope(userId),
    amount: centsText(usdToNano(budget.usd)),
    currency: "USD",
    is_enabled: true,
    period,
  } as const;
}

export function userScope(userId: string) {
  return { type: "user", user_id: userId } as const;
}

/** Decimal cents, as few digits as say it exactly. */
export function centsText(nanoUsd: number): string {
  const text = (nanoUsd / nanoPerCent).toFixed(7);
  return text.replace(/\.?0+$/, "");
}

/** USD of a string of whole cents. Throws Failure for anything else. */
export function readAmount(amount: unknown): number {
  if (typeof amount === "string" && /^\d{1,12}$/.test(amount) && Number(amount) <= centsMax) {
    return Number(amount) / 100;
  }
  throw new Failure("invalid_request", `amount: a string of whole cents is needed, "0" to "${centsMax}".`, {
    param: "amount",
  });
}

const nanoPerCent = 10_000_000;
/** The largest budget there may be. */
const centsMax = 900_000_000;

/** Where Claude's own Admin API has spend limits: below the calls' prefix, and nevertheless for those who run the gateway. */
export const spendLimitsPath = "/v1/organizations/spend_limits";

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
  if (userIds.length > spendLimitPeopleMax) {
    throw new Failure("invalid_request", `user_ids: at most ${spendLimitPeopleMax} at once.`, {
      param: "user_ids",
    });
  }
  return {
    limit: Math.min(limitOf(query), spendLimitPeopleMax),
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
