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
