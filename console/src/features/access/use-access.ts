import type { AccessReason, AccessTable, QueryInput } from "@sluice/contract";
import { keepPreviousData, type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useClient } from "../../api/call-context.tsx";
import { callKey } from "../../api/use-call.ts";
import type { Rows } from "../../api/use-pages.ts";
import type { Problem } from "../../client/problem.ts";

/** The access of one key to a model. */
export interface ModelAccess {
  readonly name: string;
  readonly type: string;
  readonly reason: AccessReason;
}

type AccessFilter = Pick<
  QueryInput<"access.table"> & object,
  "key" | "search" | "model" | "models_cursor" | "limit" | "callable"
>;

interface KeyModelsOptions {
  /** Part of a model's name. */
  readonly part?: string;
  /** Filters by whether the key may call the model. */
  readonly callable?: "true" | "false" | null;
  readonly enabled?: boolean;
}

/** Access of one key to each model, as rows of a list. */
export function useKeyModels(
  workspace: string,
  key: string,
  { part = "", callable = null, enabled = true }: KeyModelsOptions = {},
): Rows<ModelAccess> {
  const filter = { key, model: part, limit: 1, ...(callable === null ? {} : { callable }) };
  const query = useAccessPages(workspace, filter, "models", enabled);
  const rows = useMemo(
    () =>
      query.data?.pages.flatMap(({ models, keys }) =>
        // A deleted key has no row.
        models.flatMap(({ name, type }, place) => {
          const reason = keys[0]?.cells[place];
          return reason === undefined ? [] : [{ name, type, reason }];
        }),
      ) ?? null,
    [query.data],
  );
  return { rows, ...restOf(query), total: query.data?.pages.at(-1)?.models_total ?? null };
}

export type AccessRow = AccessTable["keys"][number];

/** Access by key and model: one page of models for all loaded keys. */
export function useAccessTable(
  workspace: string,
  filter: { readonly search: string; readonly model: string; readonly modelsCursor: string },
): Rows<AccessRow> &
  Pick<AccessTable, "models"> & { readonly modelsTotal: number; readonly nextModels: string | null } {
  const query = useAccessPages(
    workspace,
    { search: filter.search, model: filter.model, models_cursor: filter.modelsCursor },
    "keys",
  );
  const pages = query.data?.pages;
  const rows = useMemo(() => pages?.flatMap((page) => page.keys) ?? null, [pages]);
  const models = pages?.[0]?.models;
  const last = pages?.at(-1);
  return {
    rows,
    ...restOf(query),
    total: last?.keys_total ?? null,
    models: models ?? noModels,
    modelsTotal: last?.models_total ?? 0,
    nextModels: pages?.[0]?.next_models ?? null,
  };
}

const noModels: AccessTable["models"] = [];

function useAccessPages(
  workspace: string,
  filter: AccessFilter,
  axis: "keys" | "models",
  enabled = true,
): UseInfiniteQueryResult<{ pages: AccessTable[] }, Problem> {
  const call = useClient();
  const params = { workspace };
  return useInfiniteQuery<AccessTable, Problem, { pages: AccessTable[] }, unknown[], string | null>({
    queryKey: [...callKey("access.table", { params, query: filter }), axis],
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === null ? {} : { [axis === "keys" ? "cursor" : "models_cursor"]: pageParam };
      return call("access.table", { params, query: { ...filter, ...cursor }, signal });
    },
    initialPageParam: null,
    getNextPageParam: (page) => (axis === "keys" ? page.next : page.next_models),
    placeholderData: keepPreviousData,
    enabled,
  });
}

function restOf(query: UseInfiniteQueryResult<unknown, Problem>): Omit<Rows<never>, "rows" | "total"> {
  return {
    loading: query.isPending,
    stale: query.isPlaceholderData,
    problem: query.error,
    more: query.hasNextPage ? () => void query.fetchNextPage() : null,
    loadingMore: query.isFetchingNextPage,
    reload: () => query.refetch(),
  };
}
