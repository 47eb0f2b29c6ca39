import { skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { useSession } from "../session/session-context.tsx";

export type Edit<Value> = Value | ((before: Value) => Value);

/**
 * State that outlives its page but not the tab: whoever looks at a request and comes back finds the conversation as it
 * was. It is one person's, and goes when they sign out.
 */
export function useKept<Value>(name: string, initial: Value): readonly [Value, (edit: Edit<Value>) => void] {
  const queries = useQueryClient();
  const { user } = useSession();
  const key = useMemo(() => ["kept", user.id, name], [user.id, name]);
  const { data } = useQuery<Value>({
    queryKey: key,
    queryFn: skipToken,
    initialData: initial,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    // A long conversation is not compared with itself at each piece of an answer.
    structuralSharing: false,
  });
  const set = useCallback(
    (edit: Edit<Value>) => {
      queries.setQueryData<Value>(key, (before) => (isStep(edit) ? edit(before ?? initial) : edit));
    },
    [queries, key, initial],
  );
  return [data ?? initial, set];
}

function isStep<Value>(edit: Edit<Value>): edit is (before: Value) => Value {
  return typeof edit === "function";
}
