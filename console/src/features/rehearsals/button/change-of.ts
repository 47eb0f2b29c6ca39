import type { RehearsedChange } from "@sluice/contract";
import type { Priorities } from "../../models/detail/priorities.ts";
import { deploymentsBody } from "../../models/detail/priorities.ts";

type WorkspaceFields = Omit<
  NonNullable<RehearsedChange["workspaces"]>[number],
  "slug" | "groups" | "keys" | "guardrails" | "budgets"
>;
type KeyFields = Omit<NonNullable<NonNullable<RehearsedChange["workspaces"]>[number]["keys"]>[number], "name">;
type PersonFields = Pick<WorkspaceFields, "limits" | "budget">;
type PolicyFields = NonNullable<RehearsedChange["budgets"]>[number];
type ModelFields = Omit<NonNullable<RehearsedChange["models"]>[number], "name">;

const scopeFields = ["models", "enforce_models", "limits", "budget"] as const;

/** The fields of a form that a rehearsal can replay; null: no such field changed. */
function replayed<Fields extends object>(fields: Fields, names: readonly (keyof Fields)[]): Fields | null {
  const found = Object.entries(fields).filter(
    ([name, value]) => value !== undefined && names.includes(name as keyof Fields),
  );
  return found.length === 0 ? null : (Object.fromEntries(found) as Fields);
}

/** The change of a form that edits a workspace. All of these return null if nothing changed that can be replayed. */
export function workspaceChange(slug: string, fields: WorkspaceFields): RehearsedChange | null {
  const own = replayed(fields, scopeFields);
  return own && { workspaces: [{ slug, ...own }] };
}

export function groupChange(slug: string, name: string, fields: WorkspaceFields): RehearsedChange | null {
  const own = replayed(fields, scopeFields);
  return own && { workspaces: [{ slug, groups: [{ name, ...own }] }] };
}

interface NamedKey {
  readonly name: string;
  readonly workspace: { readonly slug: string };
}

/** The same change of several keys. */
export function keysChange(keys: readonly NamedKey[], fields: KeyFields): RehearsedChange | null {
  const own = replayed(fields, scopeFields);
  if (own === null || keys.length === 0) return null;
  const bySlug = Map.groupBy(keys, ({ workspace }) => workspace.slug);
  return {
    workspaces: [...bySlug].map(([slug, named]) => ({ slug, keys: named.map(({ name }) => ({ name, ...own })) })),
  };
}

export function personChange(slug: string, email: string, fields: PersonFields): RehearsedChange | null {
  const own = replayed(fields, ["limits", "budget"]);
  return own && { users: [{ email, workspaces: [{ workspace: slug, ...own }] }] };
}

/** `workspace` null: a policy of the installation. */
export function policyChange(workspace: string | null, fields: PolicyFields): RehearsedChange {
  return workspace === null ? { budgets: [fields] } : { workspaces: [{ slug: workspace, budgets: [fields] }] };
}

export function priceChange(name: string, price: ModelFields["price"]): RehearsedChange | null {
  return price === undefined ? null : { models: [{ name, price }] };
}

interface ServedModel {
  readonly name: string;
  readonly priorities: Priorities | null;
  readonly fallbacks: readonly string[] | null;
}

/** A part that is null is unchanged. */
export function routeChange({ name, priorities, fallbacks }: ServedModel): RehearsedChange | null {
  if ((priorities === null || priorities.length === 0) && fallbacks === null) return null;
  return {
    models: [
      {
        name,
        ...(priorities === null || priorities.length === 0
          ? {}
          : { deployments: deploymentsBody(priorities).map(({ capabilities: _, ...deployment }) => deployment) }),
        ...(fallbacks === null ? {} : { fallbacks: [...fallbacks] }),
      },
    ],
  };
}
