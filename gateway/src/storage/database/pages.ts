import { type RawBuilder, type SqlBool, sql } from "kysely";
import { bounds, Failure } from "#core/index.ts";

/** The last row of a page. The list continues after it, even if rows are added meanwhile. */
export interface PagePosition {
  readonly at: number;
  readonly id: string;
}

export function cursorOf({ at, id }: PagePosition): string {
  return cursorOfText(`${at}.${id}`);
}

/** Throws Failure invalid_request for an invalid cursor. */
export function parseCursor(cursor: string): PagePosition {
  const [at = "", id = ""] = parseCursorText(cursor, /^(\d{1,16})\.(.{0,128})$/);
  return { at: Number(at), id };
}

export function cursorOfText(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}

/** The groups of `form` in a cursor. Throws Failure invalid_request. */
export function parseCursorText(cursor: string, form: RegExp): readonly string[] {
  const found = form.exec(Buffer.from(cursor, "base64url").toString("utf8"));
  if (found !== null) return found.slice(1);
  throw new Failure("invalid_request", "Invalid cursor: it is not from this list.", { param: "cursor" });
}

/** The maximum page size applied to a limit. */
export function pageSize(limit: number): number {
  return Math.min(Math.max(1, Math.floor(limit)), bounds.listPageMax);
}

/** Selects rows after a position in a list ordered by these columns. */
export function isAfter(
  [at, id]: readonly [string, string],
  place: PagePosition,
  order: "newest first" | "oldest first" = "newest first",
): RawBuilder<SqlBool> {
  const columns = sql`(${sql.ref(at)}, ${sql.ref(id)})`;
  const values = sql`(${place.at}, ${place.id})`;
  return order === "newest first" ? sql<SqlBool>`${columns} < ${values}` : sql<SqlBool>`${columns} > ${values}`;
}

/** Cuts a page and its next cursor. `rows`: up to one more than the page. */
export function cutPage<Item>(
  rows: readonly Item[],
  size: number,
  cursorOfLast: (last: Item) => string,
): { readonly page: readonly Item[]; readonly next: string | null } {
  const page = rows.slice(0, size);
  const last = page.at(-1);
  return { page, next: rows.length > size && last !== undefined ? cursorOfLast(last) : null };
}

/** The place of a row in a list that is sorted by one value. Rows without a value come last, rows with equal values are sorted by id. */
export interface SortPosition {
  readonly value: number | string | null;
  readonly id: string;
}

/** One page of a whole list in memory. `sort`: the name of the order, prefixed with `-` for descending. */
export function sortedPage<Item>(
  items: readonly Item[],
  positionOf: (item: Item) => SortPosition,
  { sort, cursor, limit }: { readonly sort: string; readonly cursor: string | null; readonly limit: number },
): { readonly page: readonly Item[]; readonly next: string | null } {
  const order = sortOrder(sort);
  const after = cursor === null ? null : parseSortCursor(cursor, sort);
  const first = new FirstInOrder<SortPosition & { readonly item: Item }>(limit + 1, order);
  for (const item of items) {
    const place = { item, ...positionOf(item) };
    if (after === null || order(place, after) > 0) first.add(place);
  }
  const { page, next } = cutPage(first.items, limit, (last) => sortCursorOf(last, sort));
  return { page: page.map(({ item }) => item), next };
}

/** The first items of a long list in an order. The others are not sorted. */
export class FirstInOrder<Item> {
  readonly items: Item[] = [];
  readonly #max: number;
  readonly #order: (a: Item, b: Item) => number;

  constructor(max: number, order: (a: Item, b: Item) => number) {
    this.#max = max;
    this.#order = order;
  }

  add(item: Item): void {
    const last = this.items[this.#max - 1];
    if (last !== undefined && this.#order(item, last) >= 0) return;
    insertInOrder(this.items, item, this.#order);
    if (this.items.length > this.#max) this.items.pop();
  }
}

function insertInOrder<Place>(places: Place[], place: Place, order: (a: Place, b: Place) => number): void {
  let [from, to] = [0, places.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (order(places[middle] as Place, place) <= 0) from = middle + 1;
    else to = middle;
  }
  places.splice(from, 0, place);
}

export function sortOrder(sort: string): (a: SortPosition, b: SortPosition) => number {
  const sign = sort.startsWith("-") ? -1 : 1;
  return (a, b) => {
    if (a.value === b.value) return compared(a.id, b.id);
    if (a.value === null || b.value === null) return a.value === null ? 1 : -1;
    return sign * compared(a.value, b.value);
  };
}

function compared(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function sortCursorOf({ value, id }: SortPosition, sort: string): string {
  return cursorOfText(JSON.stringify([sort, value, id]));
}

/** Throws Failure invalid_request for a cursor of another list or order. */
export function parseSortCursor(cursor: string, sort: string): SortPosition {
  try {
    const [given, value, id] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")) as readonly unknown[];
    const isValue = value === null || typeof value === "string" || typeof value === "number";
    if (given === sort && isValue && typeof id === "string") return { value, id };
  } catch {
    // Reported below.
  }
  throw new Failure("invalid_request", "Invalid cursor: it is not from this list in this order.", { param: "cursor" });
}
