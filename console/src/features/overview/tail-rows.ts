import type { RequestRow } from "@sluice/contract";

/** The rows of the live view, and the rows that wait while it is paused, newest first. */
export interface TailRows {
  readonly shown: readonly RequestRow[];
  /** Rows that arrived while the view was paused. */
  readonly waiting: readonly RequestRow[];
  readonly paused: boolean;
  /** Number of rows that arrived while paused, including rows that were dropped. */
  readonly missed: number;
}

export const tailRowsMax = 100;

export const emptyTail: TailRows = { shown: [], waiting: [], paused: false, missed: 0 };

export type TailStep =
  | { readonly kind: "begin"; readonly rows: readonly RequestRow[] }
  | { readonly kind: "rows"; readonly rows: readonly RequestRow[] }
  | { readonly kind: "pause" }
  | { readonly kind: "resume" };

/** `rows` arrive in the order in which they ended; `begin` adds rows from the request list, also after a gap. */
export function nextTail(before: TailRows, step: TailStep): TailRows {
  switch (step.kind) {
    case "begin":
      return before.paused ? before : { ...before, shown: byEnd(newestOf(before.shown, step.rows)) };
    case "rows": {
      const news = fresh(withoutRepeats(step.rows.toReversed()), [...before.waiting, ...before.shown]);
      if (news.length === 0) return before;
      if (!before.paused) return { ...before, shown: newestOf(news, before.shown) };
      return { ...before, waiting: newestOf(news, before.waiting), missed: before.missed + news.length };
    }
    case "pause":
      return { ...before, paused: true };
    case "resume":
      return { shown: newestOf(before.waiting, before.shown), waiting: [], paused: false, missed: 0 };
  }
}

function newestOf(newer: readonly RequestRow[], older: readonly RequestRow[]): readonly RequestRow[] {
  return withoutRepeats([...newer, ...older]).slice(0, tailRowsMax);
}

function byEnd(rows: readonly RequestRow[]): readonly RequestRow[] {
  return rows.toSorted((one, other) => other.at + other.total_ms - (one.at + one.total_ms));
}

/** Each attempt once. A finished background response replaces its pending row. */
function withoutRepeats(rows: readonly RequestRow[]): readonly RequestRow[] {
  const ended = new Set(rows.filter((row) => row.outcome !== "pending").map((row) => row.attempt_id));
  const seen = new Set<string>();
  return rows.filter((row) => {
    const { attempt_id: id, outcome } = row;
    if (seen.has(id) || (outcome === "pending" && ended.has(id))) return false;
    seen.add(id);
    return true;
  });
}

/** Drops rows that are already listed: a reconnected stream may repeat some. */
function fresh(rows: readonly RequestRow[], known: readonly RequestRow[]): readonly RequestRow[] {
  const outcomes = new Map(known.map((row) => [row.attempt_id, row.outcome]));
  return rows.filter(({ attempt_id: id, outcome }) => {
    const before = outcomes.get(id);
    return before === undefined || (before === "pending" && outcome !== "pending");
  });
}
