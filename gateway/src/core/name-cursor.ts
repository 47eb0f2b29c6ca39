import { Failure } from "./failure.ts";

/** The cursor of a list that goes by unique names: the last name of a page, in a form nobody is tempted to write. */
export function nameCursor(name: string): string {
  return Buffer.from(`n.${name}`, "utf8").toString("base64url");
}

/** Throws Failure invalid_request for a cursor that no such list gave out; `param` is what carried it. */
export function nameOfCursor(cursor: string, param = "cursor"): string {
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  if (text.startsWith("n.")) return text.slice(2);
  throw new Failure("invalid_request", "The cursor is not one this list gave out.", { param });
}
