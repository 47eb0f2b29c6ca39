import type { ConsoleKey } from "@sluice/contract";
import { useMemo } from "react";
import { useCall } from "../../api/use-call.ts";
import type { Problem } from "../../client/problem.ts";
import { useSession } from "../../session/session-context.tsx";
import { useKept } from "./kept.ts";

const offered = 50;

export interface UsableKeys {
  /** null: not known yet. One's own come first. */
  readonly keys: readonly ConsoleKey[] | null;
  readonly problem: Problem | null;
  readonly reload: () => void;
  readonly looking: boolean;
}

/** The active keys that one may call as: one's own, and for an admin of the workspace all of its keys. */
export function useUsableKeys(slug: string, search = "", enabled = true): UsableKeys {
  const { may } = useSession();
  const admin = may("admin", slug);
  const query = { state: "active", limit: offered, ...(search === "" ? {} : { search }) } as const;
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
  /** The key that is called as; null when there is none, or none is known yet. */
  readonly key: string | null;
  readonly choose: (key: string) => void;
}

/** The key that the playground's pages call as: what was asked for, else what was chosen before, else the first. */
export function useChosenKey(slug: string, asked = ""): ChosenKey {
  const usable = useUsableKeys(slug);
  const [kept, choose] = useKept<string>(`playground.key:${slug}`, "");
  const key = asked || kept || usable.keys?.[0]?.id || null;
  return { ...usable, key, choose };
}
