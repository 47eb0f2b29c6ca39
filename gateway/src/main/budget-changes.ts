import type { Catalog, LimitScope } from "#core/index.ts";
import type { NewBudgets } from "#limits/index.ts";
import type { Change, ControlStore, Observer } from "#ports/index.ts";
import type { CatalogHolder } from "./catalog-holder.ts";

export interface BudgetChangeParts {
  readonly catalog: CatalogHolder;
  readonly controlStore: Pick<ControlStore, "find">;
  readonly newBudgets: NewBudgets;
  readonly observer: Observer;
}

/** The workspaces and groups of a snapshot, with what limits them. */
export function budgetScopes(catalog: Catalog): readonly LimitScope[] {
  return [...catalog.workspaces.values(), ...catalog.groups.values()].map((each) => each.scope);
}

/** A budget that a change brought counts from the beginning of its period, not from now. */
export async function seeBudgets(change: Change, parts: BudgetChangeParts): Promise<void> {
  const { catalog, controlStore, newBudgets, observer } = parts;
  try {
    if (change.kind === "key") {
      const key = await controlStore.find(change.digest);
      if (key !== null) await newBudgets.see([key.scope], () => key.workspaceId);
      return;
    }
    await catalog.settled();
    const now = catalog.current;
    await newBudgets.see(budgetScopes(now), (scope) =>
      scope.kind === "group" ? (now.groups.get(scope.id)?.workspaceId ?? null) : scope.id,
    );
  } catch (thrown) {
    observer.log("warn", "What a new budget has behind it could not be read; it counts from now.", { error: thrown });
  }
}
