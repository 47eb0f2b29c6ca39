import { type Expression, type ExpressionBuilder, type SqlBool, sql } from "kysely";
import { type Failure, invalidRequest } from "#core/index.ts";
import { contains, endsWith, startsWith, type Tables } from "#storage/tables.ts";

export type ScimComparison = "eq" | "ne" | "co" | "sw" | "ew" | "gt" | "ge" | "lt" | "le";

/** A parsed filter (RFC 7644, 3.4.2.2). Paths are in lower case, without the schema: `name.givenname`. */
export type ScimFilter =
  | { readonly kind: "and" | "or"; readonly parts: readonly ScimFilter[] }
  | { readonly kind: "not"; readonly part: ScimFilter }
  | { readonly kind: "present"; readonly path: string }
  | { readonly kind: "some"; readonly path: string; readonly filter: ScimFilter }
  | {
      readonly kind: "compare";
      readonly path: string;
      readonly comparison: ScimComparison;
      readonly value: string | number | boolean | null;
    };

/** `offset` from 0. `limit` 0: only the total. */
export interface ScimPage {
  readonly filter: ScimFilter | null;
  readonly offset: number;
  readonly limit: number;
}

export interface ScimList<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

/** How a column treats case. `lowercase`: ignored, and values are stored in lower case. */
type CaseRule = "exact" | "ignored" | "lowercase";

/** The column that a path compares. */
type Target =
  | { readonly kind: "text"; readonly column: Expression<string | null>; readonly caseRule: CaseRule }
  | { readonly kind: "flag"; readonly column: Expression<number>; readonly trueIs: 0 | 1 }
  | { readonly kind: "time"; readonly column: Expression<number> }
  | { readonly kind: "member" };

type Targets = Readonly<Record<string, Target>>;

type UserScope = ExpressionBuilder<Tables, "scim_users" | "auth_users">;
type GroupScope = ExpressionBuilder<Tables, "scim_groups">;

function text(column: Expression<string | null>, caseRule: CaseRule): Target {
  return { kind: "text", column, caseRule };
}

/** Throws `invalid_request` with `filter` for an unsupported filter. */
export function userCondition(eb: UserScope, filter: ScimFilter): Expression<SqlBool> {
  const address = text(eb.ref("auth_users.email"), "lowercase");
  const targets: Targets = {
    id: text(eb.ref("scim_users.user_id"), "exact"),
    username: text(eb.ref("scim_users.name_key"), "lowercase"),
    externalid: text(eb.ref("scim_users.external_id"), "exact"),
    displayname: text(eb.ref("auth_users.name"), "ignored"),
    active: { kind: "flag", column: eb.ref("auth_users.disabled"), trueIs: 0 },
    emails: address,
    "emails.value": address,
    "meta.created": { kind: "time", column: eb.ref("scim_users.created_at") },
    "meta.lastmodified": { kind: "time", column: eb.ref("scim_users.updated_at") },
  };
  return condition(filter, { targets, lists: { emails: { value: address } }, members: null });
}

export function groupCondition(eb: GroupScope, filter: ScimFilter): Expression<SqlBool> {
  const targets: Targets = {
    id: text(eb.ref("scim_groups.id"), "exact"),
    displayname: text(eb.ref("scim_groups.name_key"), "lowercase"),
    externalid: text(eb.ref("scim_groups.external_id"), "exact"),
    members: { kind: "member" },
    "members.value": { kind: "member" },
    "meta.created": { kind: "time", column: eb.ref("scim_groups.created_at") },
    "meta.lastmodified": { kind: "time", column: eb.ref("scim_groups.updated_at") },
  };
  const members = (userId: string) =>
    eb.exists(
      eb
        .selectFrom("scim_members")
        .select("scim_members.user_id")
        .whereRef("scim_members.group_id", "=", "scim_groups.id")
        .where("scim_members.user_id", "=", userId),
    );
  return condition(filter, { targets, lists: { members: { value: { kind: "member" } } }, members });
}

interface Scope {
  readonly targets: Targets;
  /** The attributes of list items: `value` in `members[value eq "…"]`. */
  readonly lists: Readonly<Record<string, Targets>>;
  readonly members: ((userId: string) => Expression<SqlBool>) | null;
}

const always = sql<SqlBool>`1 = 1`;

function condition(filter: ScimFilter, scope: Scope): Expression<SqlBool> {
  switch (filter.kind) {
    case "and":
    case "or": {
      const parts = filter.parts.map((part) => condition(part, scope));
      return sql<SqlBool>`(${sql.join(parts, filter.kind === "and" ? sql` and ` : sql` or `)})`;
    }
    case "not":
      return sql<SqlBool>`(not ${condition(filter.part, scope)})`;
    case "some": {
      const targets = scope.lists[filter.path];
      if (targets === undefined) throw unsupported(filter.path);
      return condition(filter.filter, { ...scope, targets: { ...targets, type: anyType, primary: anyType } });
    }
    case "present":
      return present(targetOf(filter.path, scope), filter.path);
    case "compare": {
      const target = targetOf(filter.path, scope);
      return target === anyType ? always : comparisonSql(target, filter, scope);
    }
  }
}

/** `type` and `primary` of an address match any value, since only one address is stored. */
const anyType: Target = { kind: "member" };

function targetOf(path: string, { targets }: Scope): Target {
  const plain = path.replace(/^urn:ietf:params:scim:schemas:core:2\.0:(user|group):/, "");
  const target = Object.hasOwn(targets, plain) ? targets[plain] : undefined;
  if (target === undefined) throw unsupported(path);
  return target;
}

function present(target: Target, path: string): Expression<SqlBool> {
  if (target === anyType || target.kind === "flag" || target.kind === "time") return always;
  if (target.kind === "member") throw unsupported(path);
  return sql<SqlBool>`(${target.column} is not null)`;
}

type Comparison = Extract<ScimFilter, { kind: "compare" }>;

function comparisonSql(target: Target, { path, comparison, value }: Comparison, scope: Scope): Expression<SqlBool> {
  if (target.kind === "member") {
    if (comparison !== "eq" || typeof value !== "string" || scope.members === null) throw unsupported(path);
    return scope.members(value);
  }
  if (target.kind === "flag") {
    const wanted = typeof value === "string" ? value.toLowerCase() === "true" : value;
    if ((comparison !== "eq" && comparison !== "ne") || typeof wanted !== "boolean") throw unsupported(path);
    const is = (wanted === (comparison === "eq")) === (target.trueIs === 1) ? 1 : 0;
    return sql<SqlBool>`(${target.column} = ${is})`;
  }
  if (target.kind === "time") return timeComparison(target.column, { path, comparison, value });
  return textComparison(target, { path, comparison, value });
}

function textComparison(
  { column, caseRule }: Extract<Target, { kind: "text" }>,
  { path, comparison, value }: Pick<Comparison, "path" | "comparison" | "value">,
): Expression<SqlBool> {
  if (value === null && (comparison === "eq" || comparison === "ne")) {
    return comparison === "eq" ? sql<SqlBool>`(${column} is null)` : sql<SqlBool>`(${column} is not null)`;
  }
  if (typeof value !== "string" || value.includes("\u0000")) throw unsupported(path);
  if (comparison === "co") return contains(column, value);
  if (comparison === "sw") return startsWith(column, value);
  if (comparison === "ew") return endsWith(column, value);
  // A lowercase column is compared without `lower`, so that its index is used.
  const stored = caseRule === "ignored" ? sql`lower(${column})` : column;
  const wanted = caseRule === "exact" ? value : value.toLowerCase();
  // RFC 7644, 3.4.2.2: an absent value is not equal.
  if (comparison === "ne") return sql<SqlBool>`(${stored} is null or ${stored} <> ${wanted})`;
  return sql<SqlBool>`(${stored} ${sql.raw(operators[comparison])} ${wanted})`;
}

function timeComparison(
  column: Expression<number>,
  { path, comparison, value }: Pick<Comparison, "path" | "comparison" | "value">,
): Expression<SqlBool> {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at) || comparison === "co" || comparison === "sw" || comparison === "ew") throw unsupported(path);
  return sql<SqlBool>`(${column} ${sql.raw(operators[comparison])} ${at})`;
}

const operators: Readonly<Record<Exclude<ScimComparison, "co" | "sw" | "ew">, string>> = {
  eq: "=",
  ne: "<>",
  gt: ">",
  ge: ">=",
  lt: "<",
  le: "<=",
};

function unsupported(path: string): Failure {
  return invalidRequest("filter", `This filter is not supported for ${path.slice(0, 100)}.`);
}
