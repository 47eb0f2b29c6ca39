import { Failure } from "./failure.ts";

/**
 * A JSON value as text that is the same for equal values: keys sorted by their UTF-16 units at every level, no white space. Throws
 * `invalid_request` for what is nested deeper than `depthMax`.
 */
export function canonicalJson(value: unknown, depthMax: number): string {
  if (depthMax < 0) throw new Failure("invalid_request", "The JSON is nested too deeply.");
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each, depthMax - 1)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each, depthMax - 1)}`).join(",")}}`;
}

/**
 * Whether a text is these pieces with anything between them. Each piece is taken where it first stands, so that no pattern,
 * whoever wrote it, can make this slow: a regular expression would try every way to share the text among many stars.
 */
export function piecesMatch(pieces: readonly string[], text: string): boolean {
  const head = pieces[0] ?? "";
  if (pieces.length === 1) return head === text;
  const tail = pieces.at(-1) ?? "";
  const end = text.length - tail.length;
  if (end < head.length || !text.startsWith(head) || !text.endsWith(tail)) return false;
  let from = head.length;
  for (let index = 1; index < pieces.length - 1; index++) {
    const piece = pieces[index] ?? "";
    const found = text.indexOf(piece, from);
    if (found < 0 || found + piece.length > end) return false;
    from = found + piece.length;
  }
  return true;
}

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

/**
 * What is digested of an admin token that the config file names by its SHA-256 (hexadecimal). No secret reads so: each begins
 * otherwise.
 */
export function declaredTokenName(sha256: string): string {
  return `sha256:${sha256}`;
}

/** How a crossing of a notice names its subject when that is no budget but the end of a service token. */
const prefix = "service-token ";

export function tokenEndingName(keyId: string): string {
  return `${prefix}${keyId}`;
}

/** The key whose end a crossing is about; null: it is about a budget. */
export function endingTokenId({ budget }: { readonly budget: string }): string | null {
  return budget.startsWith(prefix) ? budget.slice(prefix.length) : null;
}

/** The first twelve digits of a commit's hash, with what stands behind it (`-dirty`, `-checkout`). */
export function shortRevision(revision: string): string {
  return revision.replace(/^([0-9a-f]{12})[0-9a-f]+/, "$1");
}

/** The name of a user who gave none: what stands before the `@`. */
export function nameFromEmail(email: string): string {
  return email.slice(0, email.indexOf("@")) || email;
}

/** Without control characters, so that a text cannot add lines to a message. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ");
}

/** What was thrown, in words. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
