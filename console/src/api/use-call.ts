import type { AnswerOf, CallOptions, RouteId } from "@sluice/contract";
import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { Problem } from "../client/problem.ts";
import { useClient } from "./call-context.tsx";

export interface CallSettings<Id extends RouteId> extends Omit<CallOptions<Id>, "body" | "signal"> {
  /** false: do not fetch yet. */
  readonly enabled?: boolean;
  /** Refetch interval while the page is visible. */
  readonly everyMs?: number | false;
  /** How long an answer is fresh and not refetched; default: ten seconds. */
  readonly staleMs?: number;
  /** Show the previous answer while another page or search loads. */
  readonly keepBefore?: boolean;
}

/** The cache key of an admin API call; a prefix matches all calls of a route. */
export function callKey<Id extends RouteId>(
  id: Id,
  options: Pick<CallOptions<Id>, "params" | "query"> = {},
): unknown[] {
  return [id, options.params ?? null, options.query ?? null];
}

/** A GET of the admin API: `useCall("keys.show", { params: { workspace, key } })`. */
export function useCall<Id extends RouteId>(
  id: Id,
  settings: CallSettings<Id> = {},
): UseQueryResult<AnswerOf<Id>, Problem> {
  const call = useClient();
  const { enabled, everyMs, staleMs, keepBefore, ...options } = settings;
  return useQuery<AnswerOf<Id>, Problem>({
    queryKey: callKey(id, options),
    queryFn: ({ signal }) => call(id, { ...options, signal } as CallOptions<Id>),
    ...(enabled === undefined ? {} : { enabled }),
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(staleMs === undefined ? {} : { staleTime: staleMs }),
    ...(keepBefore === true ? { placeholderData: keepPreviousData } : {}),
  });
}
