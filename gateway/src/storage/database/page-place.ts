import { Failure } from "#core/index.ts";

/** The last row of a page: a list goes on behind it, whatever is added meanwhile. */
export interface Place {
  readonly at: number;
  readonly id: string;
}

export function cursorOf(place: Place): string {
  return Buffer.from(`${place.at}.${place.id}`, "utf8").toString("base64url");
}

/** Throws Failure invalid_request for a cursor that no list gave out. */
export function placeOf(cursor: string): Place {
  const found = /^(\d{1,16})\.(.{1,128})$/.exec(Buffer.from(cursor, "base64url").toString("utf8"));
  const [, at, id] = found ?? [];
  if (at === undefined || id === undefined) {
    throw new Failure("invalid_request", "The cursor is not one this list gave out.", { param: "cursor" });
  }
  return { at: Number(at), id };
}
