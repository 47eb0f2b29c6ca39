import type { UseQueryResult } from "@tanstack/react-query";
import type { Rows } from "../api/use-pages.ts";
import type { Problem } from "../client/problem.ts";

/** Rows for `DataTable` from a list that is already loaded completely. */
export function rowsOf<Row>(rows: readonly Row[] | null, rest: Partial<Rows<Row>> = {}): Rows<Row> {
  return {
    rows,
    loading: rows === null,
    stale: false,
    problem: null,
    total: rows?.length ?? null,
    more: null,
    loadingMore: false,
    reload: () => undefined,
    ...rest,
  };
}

/** The rows in the answer of a `useCall`: `rowsIn(query, (answer) => answer.data)`. */
export function rowsIn<Answer, Row>(
  query: UseQueryResult<Answer, Problem>,
  pick: (answer: Answer) => readonly Row[],
): Rows<Row> {
  return rowsOf(query.data === undefined ? null : pick(query.data), {
    loading: query.isPending,
    stale: query.isPlaceholderData,
    problem: query.error,
    reload: () => void query.refetch(),
  });
}
