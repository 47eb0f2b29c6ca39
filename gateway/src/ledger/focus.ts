import { focusColumns, focusDelayMs } from "@sluice/contract/words";
import { invalidRequest } from "#core/index.ts";
import type { FocusCatalogue, FocusStore } from "#ports/index.ts";

/** Whole days (UTC), in Unix milliseconds. `to` is not included. */
export interface FocusRange {
  readonly from: number;
  readonly to: number;
}

const dayMs = 86_400_000;
const daysMax = 400;

export const focusHeader = `${focusColumns.join(",")}\r\n`;

/** The end of the closed days: the start of the first day that may still change. */
export function focusEnd(now: number): number {
  return Math.floor((now - focusDelayMs) / dayMs) * dayMs;
}

/** Reads the dates of a query (`2026-11-30`). Throws a Failure for days that are not closed, and for days with deleted entries. */
export async function focusRange(
  query: { readonly from: string; readonly to?: string | undefined },
  store: Pick<FocusStore, "closed" | "deletedBefore">,
  now: number,
): Promise<FocusRange> {
  const end = focusEnd(now);
  const from = Date.parse(query.from);
  if (from >= end) throw notClosed("from", from, end);
  const to = query.to === undefined ? end : Date.parse(query.to);
  if (to <= from) throw invalidRequest("to", "`to` must be later than `from`: it is the day after the last one.");
  if (to > end) throw notClosed("to", to - dayMs, end);
  if (to - from > daysMax * dayMs) throw invalidRequest("to", `An export has at most ${daysMax} days.`);
  const deleted = Math.min(to, Math.ceil((await store.deletedBefore()) / dayMs) * dayMs);
  if (deleted > from) {
    const available = new Set((await store.closed(from, deleted)).map(({ day }) => day));
    for (let day = from; day < deleted; day += dayMs) {
      if (available.has(day)) continue;
      const message = `The entries of ${dateOf(day)} were deleted after their retention. Export days from ${dateOf(deleted)}.`;
      throw invalidRequest("from", message);
    }
  }
  return { from, to };
}

function notClosed(param: "from" | "to", day: number, end: number) {
  const closes = new Date(day + dayMs + focusDelayMs).toISOString();
  const message = `${dateOf(day)} is not closed yet: it closes at ${closes}. The last closed day is ${dateOf(end - dayMs)}.`;
  return invalidRequest(param, message);
}

function dateOf(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}

/**
 * The rows of these days as CSV, one part after the other, with a header. Days that are exported for the first time are closed. Memory
 * holds one part.
 */
export async function* focusCsv(options: {
  readonly store: FocusStore;
  readonly range: FocusRange;
  /** null: all. */
  readonly workspaceId: string | null;
  readonly catalogue: () => Promise<FocusCatalogue>;
  readonly signal?: AbortSignal;
}): AsyncGenerator<string, void, undefined> {
  const { store, range, workspaceId, catalogue, signal } = options;
  yield focusHeader;
  const first = await store.firstDay();
  if (first === null) return;
  let names: FocusCatalogue | null = null;
  for (let day = Math.max(range.from, first); day < range.to; day += dayMs) {
    signal?.throwIfAborted();
    if ((await store.closed(day, day + dayMs)).length === 0) {
      names ??= await catalogue();
      await store.close(day, names);
    }
    for (let after: number | null = null; ; ) {
      signal?.throwIfAborted();
      const part: Awaited<ReturnType<FocusStore["part"]>> = await store.part(day, after, workspaceId);
      if (part === null) break;
      yield part.text;
      after = part.seq;
    }
  }
}
