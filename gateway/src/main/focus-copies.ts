import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { focusEnd, focusHeader } from "#ledger/index.ts";
import type { Clock, FocusCatalogue, FocusDay, FocusStore } from "#ports/index.ts";
import { createDayCloser, createFocusStore, type ExportedHours, type ObjectStore } from "#storage/index.ts";
import type { Control } from "./control.ts";
import type { Ending } from "./ending.ts";

/** The FOCUS rows of the ledger. Days are closed in a thread, which starts on demand. */
export function openFocus(
  { database, place, ids, clock }: Pick<Control, "database" | "place" | "ids" | "clock">,
  ending: Pick<Ending, "defer">,
): FocusStore {
  const closer = createDayCloser(place, clock);
  ending.defer("days of the FOCUS export", () => closer.stop());
  return createFocusStore({ database, clock, newRun: () => ids.next("run_"), closeDay: closer.close });
}

export async function currentFocusCatalogue(control: Pick<Control, "controlStore" | "clock">): Promise<FocusCatalogue> {
  // Most processes never load it.
  const { focusCatalogue } = await import("#admin/index.ts");
  return await focusCatalogue(control);
}

export interface FocusCopies {
  readonly focus: FocusStore;
  readonly catalogue: () => Promise<FocusCatalogue>;
  readonly hours: Pick<ExportedHours, "last" | "mark">;
  readonly clock: Pick<Clock, "now">;
}

export interface FocusTarget {
  /** Names the place among the exported hours. */
  readonly destination: string;
  readonly store: ObjectStore;
  readonly signal: AbortSignal;
}

const dayMs = 86_400_000;
/** About as many rows are in one object. */
const objectRows = 50_000;

/** The first closed or closable day that was not copied to a place; null: none. */
export async function nextFocusDay(
  copies: Omit<FocusCopies, "catalogue">,
  destination: string,
): Promise<number | null> {
  const day = await firstMissingDay(copies, destination);
  return day !== null && day < focusEnd(copies.clock.now()) ? day : null;
}

/** The first day that was not copied to a place, which perhaps cannot be closed yet; null: the ledger is empty. */
export async function firstMissingDay(
  { focus, hours }: Pick<FocusCopies, "focus" | "hours">,
  destination: string,
): Promise<number | null> {
  const first = await focus.firstDay();
  if (first === null) return null;
  const last = await hours.last(daysOf(destination));
  const next = last === null ? first : Math.max(first, last + dayMs);
  // Of the time before that, only days that were closed in time are left.
  const deleted = Math.ceil((await focus.deletedBefore()) / dayMs) * dayMs;
  const [closed] = next < deleted ? await focus.closed(next, deleted) : [];
  return closed?.day ?? Math.max(next, deleted);
}

/** Copies closed days, oldest first. The manifest is written last, and then the day is marked, so an interrupted day is copied again. */
export async function copyFocusDays(copies: FocusCopies, target: FocusTarget): Promise<void> {
  const { signal, destination } = target;
  for (;;) {
    const day = await nextFocusDay(copies, destination);
    if (day === null || signal.aborted) return;
    const [found] = await copies.focus.closed(day, day + dayMs);
    const closed = found ?? (await copies.focus.close(day, await copies.catalogue()));
    signal.throwIfAborted();
    await copyDay(copies.focus, closed, target);
    signal.throwIfAborted();
    await copies.hours.mark(daysOf(destination), day, closed.rows, copies.clock.now());
  }
}

async function copyDay(focus: FocusStore, { day, rows, costNanoUsd }: FocusDay, target: FocusTarget): Promise<void> {
  const folder = `focus/date=${new Date(day).toISOString().slice(0, 10)}`;
  const parts: Readonly<Record<string, unknown>>[] = [];
  const put = async (name: string, bytes: Uint8Array): Promise<string> => {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    await target.store.put(`${folder}/${name}`, bytes, sha256, target.signal);
    return sha256;
  };
  for (let after: number | null = null, isOver = false; !isOver; ) {
    const pieces: Uint8Array[] = [gzipSync(focusHeader)];
    let count = 0;
    while (count < objectRows && !isOver) {
      const part: Awaited<ReturnType<FocusStore["part"]>> = await focus.part(day, after, null);
      isOver = part === null;
      if (part === null) break;
      pieces.push(part.gzip);
      count += part.rows;
      after = part.seq;
    }
    if (count === 0 && parts.length > 0) break;
    const object = `part-${String(parts.length).padStart(5, "0")}.csv.gz`;
    const bytes = new Uint8Array(Buffer.concat(pieces));
    parts.push({ object, rows: count, bytes: bytes.length, sha256: await put(object, bytes) });
  }
  const manifest = {
    ...{ day: new Date(day).toISOString().slice(0, 10), focus_version: "1.2", rows },
    ...{ billed_cost_nano_usd: String(costNanoUsd), parts },
  };
  await put("_manifest.json", new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`));
}

function daysOf(destination: string): string {
  return `focus ${destination}`;
}
