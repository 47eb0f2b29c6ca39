import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useSyncExternalStore } from "react";
import { useSession } from "../../session/session-context.tsx";

export type Edit<Value> = Value | ((before: Value) => Value);

/**
 * State that survives navigation but not the tab: a conversation is still there after the user has opened a request and returned. It
 * belongs to the user and is cleared at sign-out. Every use of a name shares the same state.
 */
export function useTabState<Value>(name: string, initial: Value): readonly [Value, (edit: Edit<Value>) => void] {
  const queries = useQueryClient();
  const { user } = useSession();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the initial value counts once, as in useState.
  const state = useMemo(() => tabStateFor(queries, ["kept", user.id, name], initial), [queries, user.id, name]);
  const value = useSyncExternalStore(state.watch, state.now);
  return [value, useCallback((edit) => state.set(edit), [state])];
}

/** Stored in the query cache, so that a sign-out clears both. */
export function tabStateFor<Value>(queries: QueryClient, key: readonly string[], initial: Value): TabState<Value> {
  const existing = queries.getQueryData<TabState<Value>>(key);
  if (existing !== undefined) return existing;
  queries.setQueryDefaults(["kept"], { gcTime: Number.POSITIVE_INFINITY, structuralSharing: false });
  const state = new TabState(initial);
  queries.setQueryData(key, state);
  return state;
}

/** One value and its subscribers, notified synchronously: a late update would move the caret of a text box. */
class TabState<Value> {
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
