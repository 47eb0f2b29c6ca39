import type { ScopeChange } from "./scope-change.ts";

/** A change by ids instead of names, as plain values that a thread can receive. */
export interface RehearsedChanges {
  readonly workspaces: ReadonlyMap<string, ScopeChange>;
  readonly groups: ReadonlyMap<string, ScopeChange>;
  readonly keys: ReadonlyMap<string, ScopeChange>;
  /** By the id of the person's scope. */
  readonly people: ReadonlyMap<string, ScopeChange & { readonly label: string }>;
}
