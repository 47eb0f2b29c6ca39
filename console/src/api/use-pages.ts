import type { AnswerOf, CallOptions, QueryInput, RouteId } from "@sluice/contract";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Problem } from "../client/problem.ts";
import { useClient } from "./call-context.tsx";
import type { CallSettings } from "./use-call.ts";
import { callKey } from "./use-call.ts";

/** Routes that answer with a page of a list. */
export type PagedId = {
  [Id in RouteId]: AnswerOf<Id> extends { data: unknown[]; next: string | null } ? Id : never;
}[RouteId];
export type RowOf<Id extends PagedId> = AnswerOf<Id>["data"][number];

/** A list for `DataTable`: everything loaded so far, and how to load more. */
export interface Rows<Row> {
  readonly rows: readonly Row[] | null;
  readonly loading: boolean;
  /** True while the previous rows are shown because a new search loads. */
  readonly stale: boolean;
  readonly problem: Problem | null;
  /** The number of rows on all pages. null: not counted. */
  readonly total: number | null;
  /** There are more than `total`. */
  readonly moreThanTotal?: boolean;
  readonly more: (() => void) | null;
  readonly loadingMore: boolean;
  /** If it returns a promise, it resolves when the response has arrived. */
  readonly reload: () => unknown;
}

interface Page<Row> {
  readonly data: readonly Row[];
  readonly next: string | null;
  readonly total?: number | null;
  readonly more_than_total?: boolean;
}

type PageSettings<Id extends PagedId> = CallSettings<Id> & {
  /** The refetch interval while the list is empty: the expected entry may still be on its way. */
  readonly emptyEveryMs?: number;
};

interface PagesQuery<Id extends PagedId> {
  readonly state: { readonly data: { readonly pages: readonly { readonly data: readonly RowOf<Id>[] }[] } | undefined };
}

/** A paged list of the admin API: `usePages("keys.list", { params: { workspace }, query: { search } })`. `last`: its last loaded page. */
export function usePages<Id extends PagedId>(
  id: Id,
  settings: PageSettings<Id> = {},
): Rows<RowOf<Id>> & { readonly last: AnswerOf<Id> | null } {
  const call = useClient();
  const { enabled, everyMs, emptyEveryMs, staleMs, keepBefore = true, ...options } = settings;
  const query = useInfiniteQuery({
    queryKey: [...callKey(id, options), "pages"],
    queryFn: async ({ pageParam, signal }) => {
      const cursor = pageParam === null ? {} : { cursor: pageParam };
      const request = {
        ...options,
        query: { ...(options.query as object | undefined), ...cursor } as QueryInput<Id>,
        signal,
      };
      return (await call(id, request as CallOptions<Id>)) as AnswerOf<Id> & Page<RowOf<Id>>;
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
    ...(enabled === undefined ? {} : { enabled }),
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(emptyEveryMs === undefined
      ? {}
      : { refetchInterval: ({ state }: PagesQuery<Id>) => state.data?.pages[0]?.data.length === 0 && emptyEveryMs }),
    ...(staleMs === undefined ? {} : { staleTime: staleMs }),
    ...(keepBefore ? { placeholderData: keepPreviousData } : {}),
  });
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.data) ?? null, [query.data]);
  return {
    rows,
    last: query.data?.pages.at(-1) ?? null,
    loading: query.isPending,
    stale: query.isPlaceholderData,
    problem: query.error as Problem | null,
    total: query.data?.pages.at(-1)?.total ?? null,
    moreThanTotal: query.data?.pages.at(-1)?.more_than_total === true,
    more: query.hasNextPage ? () => void query.fetchNextPage() : null,
    loadingMore: query.isFetchingNextPage,
    reload: () => query.refetch(),
  };
}
