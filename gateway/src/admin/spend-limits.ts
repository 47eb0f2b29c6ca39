import type { BudgetConfig } from "@sluice/contract/config-file";
import type { Member } from "@sluice/contract/console";
import { consoleRoutes } from "@sluice/contract/console/routes";
import { meets } from "@sluice/contract/words";
import {
  type Actor,
  asFailure,
  bearerToken,
  type ConfigSnapshot,
  Failure,
  failureTable,
  invalidRequest,
  periodStart,
  personScopeId,
  usdToNano,
  type Workspace,
} from "#core/index.ts";
import type { Observer } from "#ports/index.ts";
import type { ConsoleDependencies } from "./dependencies.ts";
import { actorFromToken, needText, roleHeldBy, visiblePerson, workspaceNamed } from "./handlers/callers.ts";
import { type AdminEnv, readJson } from "./handlers/calls.ts";
import { changeMember } from "./handlers/people-handlers.ts";

interface SpendLimitCall {
  readonly request: Request;
  readonly query: URLSearchParams;
  readonly actor: Actor;
  readonly workspace: Workspace;
  readonly ip: string;
}

/**
 * Budgets of users in the format of Claude's Admin API (`/v1/organizations/spend_limits`): a workspace is an organization, and a user's
 * budget there is a spend limit. Never throws: errors have that API's format.
 */
export class SpendLimitCalls {
  readonly #dependencies: ConsoleDependencies;
  readonly #observer: Pick<Observer, "log">;

  constructor(dependencies: ConsoleDependencies, observer: Pick<Observer, "log">) {
    this.#dependencies = dependencies;
    this.#observer = observer;
  }

  async answer(request: Request, { ip, requestId = "" }: AdminEnv["Bindings"]): Promise<Response> {
    const headers = { "cache-control": "no-store", "request-id": requestId };
    try {
      return Response.json(await this.#called(request, ip), { headers });
    } catch (thrown) {
      const failure = asFailure(thrown);
      if (failure.code === "internal_error") {
        this.#observer.log("error", "a spend-limits call failed", { requestId, error: failure.cause });
      }
      const error = { type: failureTable[failure.code].anthropicType, message: failure.message };
      return Response.json({ type: "error", request_id: requestId, error }, { status: failure.status, headers });
    }
  }

  async #called(request: Request, ip: string): Promise<object> {
    const { pathname, searchParams: query } = new URL(request.url);
    const actor = await actorFromToken(request.headers.get("x-api-key") ?? bearerToken(request), this.#dependencies);
    const workspace = workspaceOf(actor, query.get("workspace"), this.#dependencies.configSnapshot());
    const call: SpendLimitCall = { request, query, actor, workspace, ip };
    const { method } = request;
    const place = pathname.slice(spendLimitsPath.length + 1);
    if (method === "GET") {
      requireRight(call, "members.list");
      if (place === "") return await this.#list(call);
      return place === "effective" ? await this.#effective(call) : (await this.#one(call, place)).limit;
    }
    if (place === "effective" || method !== (place === "" ? "POST" : "DELETE")) {
      throw new Failure("method_not_allowed", `Method ${method} is not allowed here.`);
    }
    requireRight(call, "members.update");
    return method === "POST" ? await this.#set(call) : await this.#remove(call, place);
  }

  async #list({ workspace, query }: SpendLimitCall) {
    const members = await this.#dependencies.people.listMembers(workspace.id);
    const limits = members.flatMap((member) => spendLimitOf(member) ?? []);
    return pageOf(limits, query);
  }

  async #one({ workspace }: SpendLimitCall, id: string) {
    const userId = /^spl_(\w{1,64})_(?:daily|weekly|monthly)$/.exec(id)?.[1];
    const member = userId === undefined ? undefined : await this.#member(workspace, userId);
    const limit = member === undefined ? null : spendLimitOf(member);
    if (member === undefined || limit?.id !== id) throw new Failure("not_found", "Spend limit not found.");
    return { member, limit };
  }

  async #set(call: SpendLimitCall) {
    const { userId, period, usd } = readNewLimit(await readJson(call.request));
    const member = await this.#member(call.workspace, userId);
    if (member === undefined) {
      throw new Failure("not_found", "scope.user_id: member not found in this workspace.", {
        param: "scope.user_id",
      });
    }
    const { budget } = member;
    if (budget !== null && budget.period !== budgetPeriods[period]) throw periodConflict(member, budget.period);
    const changed = await this.#change(call, userId, { ...budget, usd, period: budgetPeriods[period] });
    return spendLimitOf(changed) ?? {};
  }

  async #remove(call: SpendLimitCall, id: string) {
    const { member } = await this.#one(call, id);
    await this.#change(call, member.id, null);
    return { type: "spend_limit_deleted", id };
  }

  #change({ workspace, actor, ip }: SpendLimitCall, userId: string, budget: Member["budget"]): Promise<Member> {
    return changeMember(this.#dependencies, {
      ...{ workspaceId: workspace.id, userId, actor },
      change: { budget },
      auditSource: { actor: actor.name, ip },
    });
  }

  /** The limit and spend of each user in each period. Only admins see other users. */
  async #effective({ workspace, query, actor }: SpendLimitCall) {
    const { limit, after, periods, userIds } = readEffectiveQuery(query);
    const own = visiblePerson({ actor, held: roleHeldBy(actor, workspace) });
    const people = (await this.#dependencies.people.listMembers(workspace.id))
      .filter(({ id }) => (own === null || id === own) && (userIds === null || userIds.has(id)))
      .filter(({ email }) => after === null || email > after)
      // Sorted here, so that every database gives the same order.
      .toSorted((one, other) => (one.email < other.email ? -1 : 1));
    const page = people.slice(0, limit);
    const rows = page.flatMap((member) => periods.map((period) => ({ member, period })));
    const now = this.#dependencies.clock.now();
    const queries = rows.map(({ member, period }) => ({
      kind: "person" as const,
      id: personScopeId(workspace.id, member.id),
      from: periodStart(budgetPeriods[period], now),
      to: null,
    }));
    // Only sums, no entries.
    const { reports } = this.#dependencies;
    const { spent } = queries.length === 0 ? { spent: [] } : await reports.spending(queries, Number.MAX_SAFE_INTEGER);
    const last = people.length > page.length ? page.at(-1) : undefined;
    return {
      data: rows.map((row, index) => effectiveRow(row, spent[index]?.amount ?? 0)),
      next_page: last === undefined ? null : Buffer.from(last.email).toString("base64url"),
    };
  }

  async #member({ id }: Workspace, userId: string): Promise<Member | undefined> {
    return (await this.#dependencies.people.listMembers(id)).find((member) => member.id === userId);
  }
}

function effectiveRow(
  { member, period }: { readonly member: Member; readonly period: SpendPeriod },
  spentNanoUsd: number,
) {
  const limit = spendLimitOf(member);
  const holds = limit?.period === period && limit.is_enabled ? limit : null;
  return {
    scope: userScope(member.id),
    groups: [],
    actor: {
      type: "user_actor",
      user_id: member.id,
      name: member.name,
      email_address: member.email,
      deleted: false,
    },
    amount: holds?.amount ?? null,
    currency: "USD",
    period,
    source: holds?.scope ?? null,
    spend_limit_id: holds?.id ?? null,
    period_to_date_spend: centsText(spentNanoUsd),
  };
}

/** The workspace of the token. For an administrator's token: the named workspace, or the only one. */
function workspaceOf(actor: Actor, name: string | null, configSnapshot: ConfigSnapshot): Workspace {
  const [only, ...others] = actor.administrator
    ? [...configSnapshot.workspaces.values()]
    : [...actor.roles.keys()].flatMap((id) => configSnapshot.workspaces.get(id) ?? []);
  const found = name === null ? (others.length === 0 ? only : undefined) : workspaceNamed(name, actor, configSnapshot);
  if (found != null) return found;
  throw invalidRequest("workspace", "This token is for more than one workspace. Add ?workspace= with a slug or id.");
}

/** The same rights as the matching calls of the admin API. */
function requireRight({ actor, workspace }: SpendLimitCall, route: "members.list" | "members.update"): void {
  const { needs } = consoleRoutes[route];
  if (!meets(roleHeldBy(actor, workspace), needs)) throw new Failure("forbidden", `This needs ${needText(needs)}.`);
}

function readNewLimit(body: unknown): { readonly userId: string; readonly period: SpendPeriod; readonly usd: number } {
  const { scope, amount, period } = membersOf(body);
  const { type, user_id: userId } = membersOf(scope ?? required("scope"));
  if (type === "organization" || type === "rbac_group") {
    throw invalid(
      "scope",
      "per-person defaults for organizations and groups are not supported. Set a limit for each user, or a shared budget of the workspace or group in the console.",
    );
  }
  if (type !== "user") throw invalid("scope.type", 'must be "user".');
  if (typeof userId !== "string") required("scope.user_id");
  if (amount === undefined) required("amount");
  const usd = readAmount(amount);
  const valid = spendPeriods.find((each) => each === (period ?? required("period")));
  if (valid === undefined) {
    throw invalid("period", `must be one of ${spendPeriods.join(", ")}.`);
  }
  return { userId: String(userId), period: valid, usd };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function required(param: string): never {
  throw invalid(param, "Required");
}

function invalid(param: string, problem: string): Failure {
  return invalidRequest(param, `${param}: ${problem}`);
}

function periodConflict({ id, email }: Member, period: NonNullable<Member["budget"]>["period"]): Failure {
  const there = spendPeriodOf(period);
  return new Failure(
    "conflict",
    there === null
      ? `${email} has a total budget. A user can have only one budget: remove it in the console first.`
      : `${email} has a ${there} limit. A user can have only one: DELETE ${spendLimitsPath}/${spendLimitId(id, there)} first.`,
    { param: "period" },
  );
}

/** Page size of spend limits, in users. */
const spendLimitPeopleMax = 100;

/** Periods that both APIs have. There is no name for a total budget. */
const spendPeriods = ["daily", "weekly", "monthly"] as const;
type SpendPeriod = (typeof spendPeriods)[number];

const budgetPeriods = { daily: "day", weekly: "week", monthly: "month" } as const;

/** null: a total budget. */
function spendPeriodOf(period: BudgetConfig["period"]): SpendPeriod | null {
  return spendPeriods.find((each) => budgetPeriods[each] === period) ?? null;
}

/** Derived from user and period, since nothing is stored for it. */
function spendLimitId(userId: string, period: SpendPeriod): string {
  return `spl_${userId}_${period}`;
}

/** A user's budget as a spend limit; null: no budget, or a total budget. */
function spendLimitOf({ id: userId, budget }: Pick<Member, "id" | "budget">) {
  const period = budget === null ? null : spendPeriodOf(budget.period);
  if (budget === null || period === null) return null;
  return {
    type: "spend_limit",
    id: spendLimitId(userId, period),
    // Only the audit log knows when it was set.
    created_at: null,
    updated_at: null,
    scope: userScope(userId),
    amount: centsText(usdToNano(budget.usd)),
    currency: "USD",
    // A budget in shadow mode limits nothing.
    is_enabled: budget.enforce !== false,
    period,
  } as const;
}

function userScope(userId: string) {
  return { type: "user", user_id: userId } as const;
}

/** Cents as a decimal number. */
function centsText(nanoUsd: number): string {
  const text = (nanoUsd / nanoPerCent).toFixed(7);
  return text.replace(/\.?0+$/, "");
}

/** Parses whole cents into USD. Throws Failure for anything else. */
function readAmount(amount: unknown): number {
  if (typeof amount === "string" && /^\d{1,12}$/.test(amount) && Number(amount) <= centsMax) {
    return Number(amount) / 100;
  }
  throw invalid("amount", `must be a string of whole cents from "0" to "${centsMax}".`);
}

const nanoPerCent = 10_000_000;
const centsMax = 900_000_000;

/** The path of Claude's Admin API for spend limits, which belongs to the admin API although it begins with `/v1`. */
export const spendLimitsPath = "/v1/organizations/spend_limits";

/** Returns one page, with the parameter names of Anthropic's lists. Throws Failure for an unknown id. */
function pageOf<Item extends { readonly id: string }>(items: readonly Item[], query: URLSearchParams) {
  const [limit, after, before] = [limitOf(query), query.get("after_id"), query.get("before_id")];
  const end = before === null ? items.length : positionOf(items, before, "before_id");
  const start =
    after === null ? (before === null ? 0 : Math.max(0, end - limit)) : positionOf(items, after, "after_id") + 1;
  const data = items.slice(start, Math.min(end, start + limit));
  const more = after === null && before !== null ? start > 0 : start + limit < end;
  return { data, has_more: more, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

function positionOf(items: readonly { readonly id: string }[], id: string, param: string): number {
  const place = items.findIndex((item) => item.id === id);
  if (place === -1) throw invalid(param, "unknown spend limit.");
  return place;
}

/** `after`: the last address of the previous page. `userIds` null: all users. */
function readEffectiveQuery(query: URLSearchParams) {
  const page = query.get("page");
  const named = valuesOf(query, "period");
  const unknown = named.find((each) => !spendPeriods.some((period) => period === each));
  if (unknown !== undefined) {
    throw invalid("period", `must be one of ${spendPeriods.join(", ")}.`);
  }
  const userIds = valuesOf(query, "user_ids");
  if (userIds.length > spendLimitPeopleMax) {
    throw invalid("user_ids", `at most ${spendLimitPeopleMax} at once.`);
  }
  return {
    limit: Math.min(limitOf(query), spendLimitPeopleMax),
    after: page === null ? null : Buffer.from(page, "base64url").toString(),
    periods: named.length === 0 ? spendPeriods : spendPeriods.filter((period) => named.includes(period)),
    userIds: userIds.length === 0 ? null : new Set(userIds),
  };
}

/** Clients send lists as `name[]=one&name[]=two`, some without the brackets. */
function valuesOf(query: URLSearchParams, name: string): readonly string[] {
  return [...query.getAll(`${name}[]`), ...query.getAll(name)];
}

function limitOf(query: URLSearchParams): number {
  const text = query.get("limit");
  const limit = text === null ? 20 : Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1_000) return limit;
  throw invalid("limit", "must be a number from 1 to 1000.");
}
