import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useSyncExternalStore } from "react";
import { useSession } from "../../session/session-context.tsx";

export type Edit<Value> = Value | ((before: Value) => Value);

/**
 * State that outlives its page but not the tab: whoever looks at a request and comes back finds the conversation as it
 * was. It is one person's, and goes when they sign out. The same name is the same state wherever it is used.
 */
export function useKept<Value>(name: string, initial: Value): readonly [Value, (edit: Edit<Value>) => void] {
  const queries = useQueryClient();
  const { user } = useSession();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the initial value counts once, as in useState.
  const kept = useMemo(() => keptFor(queries, ["kept", user.id, name], initial), [queries, user.id, name]);
  const value = useSyncExternalStore(kept.watch, kept.now);
  return [value, useCallback((edit) => kept.set(edit), [kept])];
}

/** Stored in the query cache, so that a sign-out clears both. */
export function keptFor<Value>(queries: QueryClient, key: readonly string[], initial: Value): Kept<Value> {
  const known = queries.getQueryData<Kept<Value>>(key);
  if (known !== undefined) return known;
  queries.setQueryDefaults(["kept"], { gcTime: Number.POSITIVE_INFINITY, structuralSharing: false });
  const made = new Kept(initial);
  queries.setQueryData(key, made);
  return made;
}

/** One value and its subscribers, notified synchronously: a late update would move the caret of a text box. */
class Kept<Value> {
  #value: Value;
  readonly #watchers = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  readonly now = (): Value => this.#value;

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  set(edit: Edit<Value>): void {
    this.#value = isStep(edit) ? edit(this.#value) : edit;
    for (const watcher of this.#watchers) watcher();
  }
}

function isStep<Value>(edit: Edit<Value>): edit is (before: Value) => Value {
  return typeof edit === "function";
}
