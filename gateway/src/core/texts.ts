import { Failure } from "./failure.ts";

/** JSON text that is the same for equal values: sorted keys, no white space. Throws `invalid_request` if nested deeper than `depthMax`. */
export function canonicalJson(value: unknown, depthMax: number): string {
  if (depthMax < 0) throw new Failure("invalid_request", "The JSON is nested too deeply.");
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each, depthMax - 1)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each, depthMax - 1)}`).join(",")}}`;
}

/**
 * Whether a text consists of these pieces with any text between them. Each piece matches at its first occurrence, so that no pattern is
 * slow. A regular expression would backtrack over many stars.
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

/** The cursor of a list sorted by unique names: the last name of a page, encoded. */
export function nameCursor(name: string): string {
  return Buffer.from(`n.${name}`, "utf8").toString("base64url");
}

/** Throws Failure invalid_request for an invalid cursor. `param`: the parameter that held it. */
export function nameOfCursor(cursor: string, param = "cursor"): string {
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  if (text.startsWith("n.")) return text.slice(2);
  throw new Failure("invalid_request", "Invalid cursor.", { param });
}

/** Replaces the secret of an admin token that the config file declares by its SHA-256. No secret has this form. */
export function declaredTokenName(sha256: string): string {
  return `sha256:${sha256}`;
}

/** The first twelve digits of a commit hash, with its suffix (`-dirty`, `-checkout`). */
export function shortRevision(revision: string): string {
  return revision.replace(/^([0-9a-f]{12})[0-9a-f]+/, "$1");
}

/** Default name of a user: the part before the `@`. */
export function nameFromEmail(email: string): string {
  return email.slice(0, email.indexOf("@")) || email;
}

/** Replaces control characters, so that a text cannot add lines to a message. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ");
}

/** Tabs and line ends are part of certificates and descriptions. */
const controls = /[^\P{Cc}\t\n\r]/u;

interface Visited {
  readonly value: unknown;
  readonly name: string | number;
  readonly parent: Visited | null;
}

/**
 * Paths of the texts that have control characters other than tabs and line ends, and of objects with such names of members. PostgreSQL
 * cannot store NUL. Without recursion, because callers choose the depth.
 */
export function* controlCharacters(data: unknown): Generator<readonly (string | number)[]> {
  const waiting: Visited[] = [{ value: data, name: "", parent: null }];
  for (let visited = waiting.pop(); visited !== undefined; visited = waiting.pop()) {
    const { value } = visited;
    if (typeof value === "string" && controls.test(value)) yield pathTo(visited);
    if (typeof value !== "object" || value === null) continue;
    const members = Object.entries(value);
    if (members.some(([name]) => controls.test(name))) yield pathTo(visited);
    for (const [name, member] of members) {
      waiting.push({ value: member, name: Array.isArray(value) ? Number(name) : name, parent: visited });
    }
  }
}

function pathTo(visited: Visited): readonly (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = visited; at.parent !== null; at = at.parent) path.unshift(at.name);
  return path;
}

/** The error about a path from `controlCharacters`. */
export const controlsMessage = "must not contain control characters";

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
