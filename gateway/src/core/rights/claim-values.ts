/** Depth of a path, and values of a claim. Longer values match no rule. */
const claimDepthMax = 8;
const claimValuesMax = 2_000;
const claimCharactersMax = 1_024;

/** The values of a claim. `left-out`: the issuer omitted it because it is too long. */
export type ClaimValue =
  | { readonly kind: "one"; readonly values: readonly string[] }
  | { readonly kind: "list"; readonly values: readonly string[] }
  | { readonly kind: "missing" }
  | { readonly kind: "left-out" }
  | { readonly kind: "not-plain" };

export type Claims = Readonly<Record<string, unknown>>;

/**
 * The claim at a path. Names may contain dots (`https://example.com/groups`), so the whole path is tried first, then each split from
 * the left.
 */
export function claimAt(claims: Claims, path: string): ClaimValue {
  const found = find(claims, path, claimDepthMax);
  if (found !== undefined && found !== null) return plain(found);
  return namesLeftOut(claims).has(path) ? { kind: "left-out" } : { kind: "missing" };
}

/** The claims that rules read, by path; nothing else of a person is stored. Missing ones are null, to show later that they were read. */
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

/** Numbers and booleans are compared as text. Texts longer than a rule can name are ignored. */
function textOf(value: unknown): string | null {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value.length <= claimCharactersMax ? value : null;
}

/** OpenID Connect Core 1.0 §5.6.2: claims stored elsewhere. Entra ID does so for more than 200 groups. */
function namesLeftOut(claims: Claims): ReadonlySet<string> {
  const names = claims["_claim_names"];
  const left = typeof names === "object" && names !== null ? Object.keys(names) : [];
  return new Set(claims["hasgroups"] === undefined ? left : [...left, "groups"]);
}
