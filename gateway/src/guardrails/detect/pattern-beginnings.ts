/**
 * Rewrites a pattern in RE2 syntax to one that matches every beginning of its matches, of at least one character. With `\z` after it, it
 * finds where a match may have begun that the next part of a stream completes.
 */
export function beginningsOf(pattern: string): string | null {
  const parser = new Parser(pattern);
  return beginningOf(parser.alternatives());
}

/** `source` matches the whole; without capturing groups. */
type Node =
  | { readonly kind: "character"; readonly source: string }
  /** `^`, `\b`: takes no character. Flags such as `(?i)` last until the end of the group. */
  | { readonly kind: "assertion" | "flags"; readonly source: string }
  | { readonly kind: "repeat"; readonly of: Node; readonly max: number; readonly source: string }
  | {
      readonly kind: "group";
      readonly open: string;
      readonly branches: readonly (readonly Node[])[];
      readonly source: string;
    };

function beginningOf(node: Node): string | null {
  switch (node.kind) {
    case "character":
      return node.source;
    case "assertion":
    case "flags":
      return null;
    case "repeat":
      return beginningOfRepeat(node.of, node.max);
    case "group": {
      const branches = node.branches.map(beginningOfSequence).filter((branch) => branch !== null);
      return branches.length === 0 ? null : `${node.open}${branches.join("|")})`;
    }
  }
}

function beginningOfRepeat(of: Node, max: number): string | null {
  const last = max === 0 ? null : beginningOf(of);
  if (last === null || max === 1) return last;
  return `(?:(?:${of.source})${max === Number.POSITIVE_INFINITY ? "*" : `{0,${max - 1}}`}${last})`;
}

/** A beginning of the first node, or the whole first node and a beginning of the rest. */
function beginningOfSequence(nodes: readonly Node[]): string | null {
  let rest: string | null = null;
  for (const node of nodes.toReversed()) {
    const first = beginningOf(node);
    if (rest === null) rest = first;
    else if (node.kind === "character") rest = `${node.source}(?:${rest})?`;
    else if (first === null) rest = node.source + rest;
    else rest = `(?:${first}|${node.source}${rest})`;
  }
  return rest;
}

/** Reads a pattern that RE2 has accepted. */
class Parser {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  /** Until the closing bracket or the end. */
  alternatives(open = "(?:"): Node {
    const branches: Node[][] = [[]];
    let flags: readonly Node[] = [];
    while (this.#at < this.#pattern.length && !this.#reads(")")) {
      const branch = branches.at(-1) ?? [];
      if (this.#reads("|")) {
        this.#at++;
        flags = branch.filter(({ kind }) => kind === "flags");
        branches.push([...flags]);
      } else branch.push(...this.#items());
    }
    this.#at++;
    const sources = branches.map((branch) => branch.map(({ source }) => source).join(""));
    return { kind: "group", open, branches, source: `${open}${sources.join("|")})` };
  }

  #items(): readonly Node[] {
    if (this.#reads("\\Q")) return this.#quoted();
    return [this.#repeated(this.#item())];
  }

  #item(): Node {
    if (this.#reads("(")) return this.#group();
    if (this.#reads("[")) return this.#character(classPattern);
    const assertion = this.#take(/[\^$]|\\[AzbB]/y);
    if (assertion !== null) return { kind: "assertion", source: assertion };
    return this.#character(/\\(?:[pPxX]\{[^}]*\}|x[0-9A-Fa-f]{2}|[pP].|[0-7]{1,3}|[\s\S])|[\s\S]/uy);
  }

  #character(pattern: RegExp): Node {
    return { kind: "character", source: this.#take(pattern) ?? "" };
  }

  #group(): Node {
    const flags = this.#take(/\(\?[a-zA-Z-]+\)/y);
    if (flags !== null) return { kind: "flags", source: flags };
    const open = this.#take(/\(\?[a-zA-Z-]*:/y);
    if (open === null) this.#take(/\((?:\?P?<[^>]*>)?/y);
    return this.alternatives(open ?? "(?:");
  }

  #repeated(first: Node): Node {
    let node = first;
    for (;;) {
      const sign = this.#take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y);
      if (sign === null) return node;
      const count = /^\{(\d+)(,?)(\d*)\}/.exec(sign);
      const max = count === null ? (sign.startsWith("?") ? 1 : Number.POSITIVE_INFINITY) : maxOf(count);
      node = { kind: "repeat", of: node, max, source: `${sourceOf(node)}${sign}` };
    }
  }

  #quoted(): readonly Node[] {
    const text = this.#take(/\\Q[\s\S]*?(?:\\E|$)/y) ?? "";
    const characters = Array.from(
      text.slice(2).replace(/\\E$/, ""),
      (char): Node => ({ kind: "character", source: quote(char) }),
    );
    const last = characters.pop();
    return last === undefined ? [] : [...characters, this.#repeated(last)];
  }

  #reads(text: string): boolean {
    return this.#pattern.startsWith(text, this.#at);
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#pattern)?.[0];
    if (taken === undefined) return null;
    this.#at += taken.length;
    return taken;
  }
}

/** `[^]a-z]`, with named classes such as `[:alpha:]`. */
const classPattern = /\[\^?\]?(?:\[:\^?\w+:\]|\\[pP]\{[^}]*\}|\\[\s\S]|[^\]\\])*\]/uy;

function maxOf([, min = "", comma, max = ""]: readonly string[]): number {
  if (comma === "") return Number(min);
  return max === "" ? Number.POSITIVE_INFINITY : Number(max);
}

/** A repeat of a repeat needs brackets. */
function sourceOf(node: Node): string {
  return node.kind === "repeat" ? `(?:${node.source})` : node.source;
}

function quote(char: string): string {
  return /[\w\s]|[^\p{ASCII}]/u.test(char) ? char : `\\${char}`;
}
