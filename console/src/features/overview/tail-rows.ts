import type { RequestRow } from "@sluice/contract";

/** What the live view shows and what waits behind it, newest first. */
export interface TailRows {
  readonly shown: readonly RequestRow[];
  /** Came while the view was paused. */
  readonly waiting: readonly RequestRow[];
  readonly paused: boolean;
  /** Came while it was paused, also those too many to be kept. */
  readonly missed: number;
}

export const tailRowsMax = 100;

export const emptyTail: TailRows = { shown: [], waiting: [], paused: false, missed: 0 };

export type TailStep =
  | { readonly kind: "begin"; readonly rows: readonly RequestRow[] }
  | { readonly kind: "rows"; readonly rows: readonly RequestRow[] }
  | { readonly kind: "pause" }
  | { readonly kind: "resume" };

/** `rows` come in the order in which they ended; `begin` brings what the list of requests has, also after a gap. */
export function nextTail(before: TailRows, step: TailStep): TailRows {
  switch (step.kind) {
    case "begin":
      return before.paused ? before : { ...before, shown: byEnd(newestOf(before.shown, step.rows)) };
    case "rows": {
      const news = fresh(step.rows.toReversed(), [...before.waiting, ...before.shown]);
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
  return [...newer, ...fresh(older, newer)].slice(0, tailRowsMax);
}

function byEnd(rows: readonly RequestRow[]): readonly RequestRow[] {
  return rows.toSorted((one, other) => other.at + other.total_ms - (one.at + one.total_ms));
}

/** Without those that are known: a view that was opened again may be told twice. */
function fresh(rows: readonly RequestRow[], known: readonly RequestRow[]): readonly RequestRow[] {
  const ids = new Set(known.map((row) => row.attempt_id));
  return rows.filter((row) => !ids.has(row.attempt_id));
}
