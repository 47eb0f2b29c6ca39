/** How deep a path goes, and what one claim holds. Longer values match no rule. */
const claimDepthMax = 8;
const claimValuesMax = 2_000;
const claimCharactersMax = 1_024;

/** What somebody's claims hold of one path. `left-out`: the issuer did not send it, since it is too long. */
export type ClaimValue =
  | { readonly kind: "one"; readonly values: readonly string[] }
  | { readonly kind: "list"; readonly values: readonly string[] }
  | { readonly kind: "missing" }
  | { readonly kind: "left-out" }
  | { readonly kind: "not-plain" };

export type Claims = Readonly<Record<string, unknown>>;

/**
 * What stands at a path. A name may hold dots itself (`https://example.com/groups`), so the whole rest is tried as a name first, then each
 * way to cut it from the left.
 */
export function claimAt(claims: Claims, path: string): ClaimValue {
  const found = find(claims, path, claimDepthMax);
  if (found !== undefined && found !== null) return plain(found);
  return namesLeftOut(claims).has(path) ? { kind: "left-out" } : { kind: "missing" };
}

/**
 * The part of the claims that rules read, by path: nothing else is kept of a person. What was looked for and is not there is null, so
 * that it is known later that it was looked for.
 */
export function claimsRead(claims: Claims, paths: Iterable<string>): Claims {
  const kept: Record<string, unknown> = {};
  for (const path of paths) {
    const value = claimAt(claims, path);
    if (value.kind === "one") kept[path] = value.values[0];
    else kept[path] = value.kind === "list" ? value.values : null;
  }
  return kept;
}

function find(from: unknown, path: string, depth: number): unknown {
  if (typeof from !== "object" || from === null || Array.isArray(from)) return undefined;
  if (Object.hasOwn(from, path)) return (from as Claims)[path];
  if (depth === 0) return undefined;
  for (let dot = path.indexOf("."); dot > 0; dot = path.indexOf(".", dot + 1)) {
    const head = path.slice(0, dot);
    if (!Object.hasOwn(from, head)) continue;
    const found = find((from as Claims)[head], path.slice(dot + 1), depth - 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function plain(found: unknown): ClaimValue {
  if (!Array.isArray(found)) {
    const text = textOf(found);
    return text === null ? { kind: "not-plain" } : { kind: "one", values: [text] };
  }
  const values = found.slice(0, claimValuesMax).flatMap((each) => textOf(each) ?? []);
  return found.length > 0 && values.length === 0 ? { kind: "not-plain" } : { kind: "list", values };
}

/** Numbers and booleans are compared as they are written. Longer texts than a rule can name are nobody's. */
function textOf(value: unknown): string | null {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value.length <= claimCharactersMax ? value : null;
}

/** OpenID Connect Core 1.0 §5.6.2: claims that stand elsewhere. Entra ID does so with more than 200 groups. */
function namesLeftOut(claims: Claims): ReadonlySet<string> {
  const names = claims["_claim_names"];
  const left = typeof names === "object" && names !== null ? Object.keys(names) : [];
  return new Set(claims["hasgroups"] === undefined ? left : [...left, "groups"]);
}
