import { type ConsoleKey, mayCallWith } from "@sluice/contract";
import { useMemo } from "react";
import { useCall } from "../../api/use-call.ts";
import type { Problem } from "../../client/problem.ts";
import { useSession } from "../../session/session-context.tsx";
import { useTabState } from "./tab-state.ts";

const offered = 50;

export interface UsableKeys {
  /** null: loading. The user's keys come first. */
  readonly keys: readonly ConsoleKey[] | null;
  readonly problem: Problem | null;
  readonly reload: () => void;
  readonly looking: boolean;
}

/** The active keys the user may call with, see `mayCallWith`. */
export function useUsableKeys(slug: string, search = "", enabled = true): UsableKeys {
  const { may } = useSession();
  const admin = may("admin", slug);
  const query = { state: "active", callable: "true", limit: offered, ...(search === "" ? {} : { search }) } as const;
  const params = { workspace: slug };
  const mine = useCall("keys.list", { params, query: { ...query, mine: "true" }, enabled, keepBefore: true });
  const all = useCall("keys.list", { params, query, enabled: enabled && admin, keepBefore: true });
  const keys = useMemo(() => {
    if (mine.data === undefined || (admin && all.data === undefined)) return null;
    const own = new Set(mine.data.data.map((key) => key.id));
    return [...mine.data.data, ...(all.data?.data ?? []).filter((key) => !own.has(key.id))];
  }, [mine.data, all.data, admin]);
  return {
    keys,
    problem: mine.error ?? all.error,
    reload: () => {
      void mine.refetch();
      if (admin) void all.refetch();
    },
    looking: mine.isFetching || all.isFetching,
  };
}

export interface ChosenKey extends UsableKeys {
  /** The selected key; null if there is none or it is loading. */
  readonly key: string | null;
  readonly choose: (key: string) => void;
}

/** The playground's key: the one in the URL, else the last used one, else the first. Only one that the user may call with. */
export function useChosenKey(slug: string, asked = ""): ChosenKey {
  const { user, may } = useSession();
  const usable = useUsableKeys(slug);
  const [kept, choose] = useTabState<string>(`playground.key:${slug}`, "");
  const wanted = asked || kept;
  const found = useCall("keys.show", { params: { workspace: slug, key: wanted }, enabled: wanted !== "" });
  if (wanted !== "" && found.data === undefined && found.error === null) {
    return { ...usable, keys: null, key: null, choose };
  }
  const isCallable = found.data !== undefined && mayCallWith(found.data, user.id, { isAdmin: may("admin", slug) });
  return { ...usable, key: isCallable ? wanted : (usable.keys?.[0]?.id ?? null), choose };
}
