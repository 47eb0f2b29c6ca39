import type { ConsoleKey } from "@sluice/contract/console";
import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from "kysely";
import type { KeyFilter, KeyUsageQuery, Paged, UsageSum } from "#ports/index.ts";
import { beginsWith, contains, endsWith, equalsGiven, equalsWithoutIndex } from "../database/conditions.ts";
import { cursorOfText, cutPage, parseCursorText } from "../database/pages.ts";
import type { Row, Tables } from "../database/schema.ts";
import { consoleKeyOf, consoleKeys, keyIsCallableBy, keyIsOf, keyIsOfLeaver } from "../keys/keys.ts";
import { usageByModel } from "../ledger/ledger-reading.ts";
import { hourMs } from "../ledger/ledger-rollup.ts";
import type { ReportContext } from "./report-context.ts";

type Terms = ExpressionBuilder<Tables, "api_keys">;
type Condition = Expression<SqlBool>;

/** Keys by name. The index of names selects them; other columns are read only for the keys of this page. */
export async function keyPage(
  { connection }: ReportContext,
  filter: KeyFilter,
  cursor: string | null,
  limit: number,
): Promise<Paged<ConsoleKey>> {
  let query = connection
    .selectFrom("api_keys")
    .select(["id", "name"])
    .where((eb) => eb.and(keyConditions(eb, filter)))
    .orderBy("name")
    .orderBy("id")
    .limit(limit + 1);
  if (cursor !== null) {
    const [id = "", name = ""] = parseCursorText(cursor, /^k\.([^.]{1,128})\.(.{1,1024})$/s);
    query = query.where((eb) => eb(eb.refTuple("name", "id"), ">", eb.tuple(name, id)));
  }
  const { page, next } = cutPage(await query.execute(), limit, ({ name, id }) => cursorOfText(`k.${id}.${name}`));
  const ids = page.map(({ id }) => id);
  const rows = ids.length === 0 ? [] : await consoleKeys(connection).where("api_keys.id", "in", ids).execute();
  const keys = new Map(rows.map((row) => [row.id, consoleKeyOf(row, filter.now)]));
  return { data: ids.flatMap((id) => keys.get(id) ?? []), next };
}

/** All conditions except `model` and `tag`, which are read from JSON columns. */
export function keyConditions(eb: Terms, filter: KeyFilter): Condition[] {
  const { workspaceId, keyId, groupId, userId, ownerId, leaverId, callableBy, service, search = "", state } = filter;
  const plain = { id: keyId, service: service === undefined ? undefined : Number(service) };
  const terms: Condition[] = [...equalsGiven<Row<"api_keys">>(plain)];
  if (workspaceId !== null) {
    const other = [keyId, userId, ownerId, leaverId].some((each) => each !== undefined);
    terms.push(other ? equalsWithoutIndex(eb.ref("workspace_id"), workspaceId) : eb("workspace_id", "=", workspaceId));
  }
  if (groupId !== undefined) terms.push(equalsWithoutIndex(eb.ref("group_id"), groupId));
  if (ownerId !== undefined) terms.push(eb.or([eb("owner_id", "=", ownerId), eb("person_id", "=", ownerId)]));
  if (userId !== undefined) terms.push(keyIsOf(userId));
  if (leaverId !== undefined) {
    terms.push(keyIsOfLeaver(leaverId));
    // Administrators manage their keys in every workspace, also without being a member.
    if (workspaceId !== null) terms.push(isNoAdministrator(leaverId));
  }
  if (callableBy !== undefined) terms.push(keyIsCallableBy(callableBy.userId, callableBy));
  if (search !== "") terms.push(eb.or(searchConditions(eb, search)));
  if (state !== undefined) terms.push(eb.and(inState(eb, state, filter.now)));
  const { expiresBefore, unusedSince } = filter;
  if (expiresBefore !== undefined) {
    terms.push(eb("revoked_at", "is", null), eb("expires_at", ">", filter.now), eb("expires_at", "<=", expiresBefore));
  }
  if (unusedSince !== undefined) terms.push(eb.not(eb.or(usedSince(eb, unusedSince))));
  return terms;
}

/** A call in an hour that ends after a time, or a task. Tasks have an entry only when they end. */
function usedSince(eb: Terms, since: number): Condition[] {
  const rollups = eb
    .selectFrom("usage_rollups")
    .select("hour")
    .whereRef("usage_rollups.key_id", "=", "api_keys.id")
    .where("hour", ">", since - hourMs);
  const tasks = eb
    .selectFrom("tasks")
    .select("tasks.id")
    .whereRef("tasks.workspace_id", "=", "api_keys.workspace_id")
    .whereRef("tasks.key_id", "=", "api_keys.id")
    .where("tasks.created_at", ">=", since);
  return [eb.exists(rollups), eb.exists(tasks)];
}

function isNoAdministrator(userId: string): Condition {
  return sql<SqlBool>`not exists (
    select 1 from auth_users where auth_users.id = ${userId} and administrator = 1 and disabled = 0)`;
}

/** Part of the name, or the beginning or end of the secret. A whole secret finds its key too. */
function searchConditions(eb: Terms, search: string): Condition[] {
  const terms = [contains(eb.ref("name"), search), eb("id", "=", search)];
  if (search.length <= prefixMax) terms.push(beginsWith(eb.ref("prefix"), search));
  if (search.length <= lastMax) terms.push(endsWith(eb.ref("last_four"), search));
  if (search.length > prefixMax) {
    const starts = Array.from({ length: prefixMax - prefixMin + 1 }, (_, n) => search.slice(0, prefixMin + n));
    terms.push(eb.and([eb("prefix", "in", starts), eb("last_four", "=", search.slice(-lastMax))]));
  }
  return terms;
}

/** Characters of a secret that are stored: see `recognition`. Secrets in config files have at least 24. */
const prefixMin = 6;
const prefixMax = 14;
const lastMax = 4;

/** The conditions of `consoleKeyOf`, in the same order. */
function inState(eb: Terms, state: string, now: number): Condition[] {
  if (state === "revoked") return [eb("revoked_at", "is not", null)];
  const inUse = [eb("revoked_at", "is", null)];
  if (state === "without_secret") return [...inUse, eb("digest", "is", null)];
  inUse.push(eb("digest", "is not", null));
  if (state === "disabled") return [...inUse, eb("enabled", "!=", 1)];
  inUse.push(eb("enabled", "=", 1));
  if (state === "expired") return [...inUse, eb("expires_at", "<=", now)];
  return [...inUse, eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)])];
}

export async function keyUsage(
  { connection, flavour, deadline }: ReportContext,
  keyId: string,
  { from, to, tag }: KeyUsageQuery,
): Promise<readonly UsageSum[]> {
  const reading = connection as Kysely<Tables>;
  const sums = await usageByModel({ reading }, { keyId, from, to }, tag === undefined ? tag : { ...tag, flavour });
  deadline.check();
  return sums;
}
