import {
  type Alias,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
} from "yaml";

/** Maximum nesting of a config file. */
const configDepthMax = 64;

interface Position {
  readonly line: number;
  readonly column: number;
}

interface SourceFault extends Position {
  readonly message: string;
}

/** A parsed config text with the positions of its nodes. JSON is read as YAML. */
export interface YamlSource {
  readonly document: Document;
  readonly faults: readonly SourceFault[];
  /** The node at a path, or the nearest one around it. */
  nodeAt(path: readonly PropertyKey[]): unknown;
  positionOf(path: readonly PropertyKey[]): Position;
  /** The position of the key `name` in the map at `path`. */
  positionOfKey(path: readonly PropertyKey[], name: string): Position;
}

/** Never throws; problems are in `faults`. */
export function readYaml(text: string): YamlSource {
  const marked = markVariables(text);
  const tooDeep = firstTooDeep(marked);
  if (tooDeep !== null) return deepSource(text, tooDeep);
  const lines = new LineCounter();
  const document = parseDocument(marked, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    merge: true,
    schema: "core",
    resolveKnownTags: false,
    logLevel: "error",
  });
  unmarkVariables(document);
  const position = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const finder = createNodeFinder(document);
  const found = [...document.errors, ...document.warnings].map((error) => ({
    ...position(error.pos[0]),
    message: yamlMessages[error.code],
  }));
  // The parser may report the same problem twice.
  const faults = [...new Map(found.map((fault) => [Object.values(fault).join(" "), fault])).values()];
  for (const alias of finder.unresolved) faults.push({ ...position(startOf(alias)), message: yamlMessages.BAD_ALIAS });
  return {
    document,
    faults,
    nodeAt: finder.nodeAt,
    positionOf: (path) => position(startOf(finder.nodeAt(path))),
    positionOfKey: (path, name) => position(startOf(finder.keyAt(path, name))),
  };
}

// Two noncharacters, which Unicode reserves for internal use.
const openMark = "\ufdd0";
const closeMark = "\ufdd1";

/**
 * Inside `{ }` and `[ ]`, the parser would read the braces of an unquoted `${NAME}` as a map. They are replaced by marks of the same
 * length while it runs.
 */
function markVariables(text: string): string {
  const clean = text.replaceAll(openMark, "\ufffd").replaceAll(closeMark, "\ufffd");
  return clean.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, `$$${openMark}$1${closeMark}`);
}

function unmarkVariables(document: Document): void {
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value !== "string" || !scalar.value.includes(openMark)) return;
      scalar.value = scalar.value.replaceAll(openMark, "{").replaceAll(closeMark, "}");
    },
  });
}

function startOf(node: unknown): number {
  const range = typeof node === "object" && node !== null && "range" in node ? node.range : null;
  const start: unknown = Array.isArray(range) ? range[0] : 0;
  return typeof start === "number" ? start : 0;
}

/**
 * The offset where nesting exceeds configDepthMax. The parser would need minutes for a million brackets; the lexer takes linear time.
 * Depth by indentation needs a line per level and cannot grow that far.
 */
function firstTooDeep(text: string): number | null {
  let offset = 0;
  let flowDepth = 0;
  let indicators = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") flowDepth++;
    else if (token === "]" || token === "}") flowDepth--;
    else if (token === "-" || token === "?") indicators++;
    else if (token.startsWith("\n") || token.startsWith("\r")) indicators = 0;
    if (flowDepth > configDepthMax || indicators > configDepthMax) return offset;
    // The lexer's own marks are single control characters that are not in the text.
    if (!isLexerMark(token)) offset += token.length;
  }
  return null;
}

function isLexerMark(token: string): boolean {
  return token === "\u0002" || token === "\u0018" || token === "\u001f" || token === "\ufeff";
}

function deepSource(text: string, offset: number): YamlSource {
  const before = text.slice(0, offset);
  const position = { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
  const message = `nested more than ${configDepthMax} levels deep`;
  const document: Document = parseDocument("{}");
  return {
    document,
    faults: [{ ...position, message }],
    nodeAt: () => document.contents,
    positionOf: () => position,
    positionOfKey: () => position,
  };
}

/** The parser's own messages quote the text around an error, which may be a secret. */
const yamlMessages: { readonly [K in ErrorCode]: string } = {
  ALIAS_PROPS: "an alias (`*name`) cannot have an anchor or a tag",
  BAD_ALIAS: "this alias (`*name`) has no anchor (`&name`) above it; quote a string that starts with *",
  BAD_COLLECTION_TYPE: "the tag does not match this type of value",
  BAD_DIRECTIVE: "invalid YAML directive; quote a string that starts with %",
  BAD_DQ_ESCAPE: "invalid escape in double quotes; use single quotes to keep backslashes",
  BAD_INDENT: "the indentation does not match the lines above, or a bracket above is not closed",
  BAD_PROP_ORDER: "an anchor or a tag must be directly before its value",
  BAD_SCALAR_START: "a string that starts with this character must be quoted",
  BLOCK_AS_IMPLICIT_KEY: "a second `: ` in one line; quote the string if the colon is part of it",
  BLOCK_IN_FLOW: "an indented list or map cannot be inside [ ] or { }",
  DUPLICATE_KEY: "duplicate field: it is already set above in the same object",
  IMPOSSIBLE: "cannot be read as YAML or JSON",
  KEY_OVER_1024_CHARS: "a field name is longer than 1024 characters",
  MISSING_CHAR: "a comma, a colon, a bracket or a quote is missing here",
  MULTILINE_IMPLICIT_KEY: "a field name must be on one line, followed by `: `",
  MULTIPLE_ANCHORS: "a value can have only one anchor",
  MULTIPLE_DOCS: "a config file must be one document; `---` starts a second one",
  MULTIPLE_TAGS: "a value can have only one tag",
  NON_STRING_KEY: "a field name must be a string",
  RESOURCE_EXHAUSTION: "too deep or too large",
  TAB_AS_INDENT: "tabs are not allowed for indentation; use spaces",
  TAG_RESOLVE_FAILED: "tags (`!name`) are not supported; quote a string that starts with !",
  UNEXPECTED_TOKEN: "unexpected here; check the indentation and the quotes above",
};

/** Finds the node of a path, through aliases and merge keys. */
function createNodeFinder(document: Document) {
  const { targets, unresolved } = aliasTargets(document);
  const resolved = (node: unknown): unknown => (isAlias(node) ? targets.get(node) : node);

  const childOf = (parent: unknown, step: PropertyKey): unknown => {
    if (isSeq(parent)) return typeof step === "number" ? parent.items[step] : undefined;
    if (!isMap(parent)) return undefined;
    const pair = pairOf(parent.items, String(step));
    return pair?.value ?? pair?.key;
  };

  /** The pair with this key, also from a merge key (`<<`). */
  const pairOf = (pairs: readonly Pair[], name: string): Pair | undefined => {
    const own = pairs.find((pair) => isScalar(pair.key) && pair.key.value === name);
    if (own !== undefined) return own;
    for (const pair of pairs.filter(isMerge)) {
      const sources = isSeq(pair.value) ? pair.value.items : [pair.value];
      for (const source of sources) {
        const map = resolved(source);
        const found = isMap(map) ? pairOf(map.items, name) : undefined;
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };

  const nodeAt = (path: readonly PropertyKey[]): unknown => {
    let node: unknown = document.contents;
    for (const step of path) {
      const next = resolved(childOf(node, step));
      if (next === undefined || next === null) return node;
      node = next;
    }
    return node;
  };

  return {
    /** The node at the path, or the nearest one around it. */
    nodeAt,
    /** The key called `name` of the map at the path, or that map. */
    keyAt: (path: readonly PropertyKey[], name: string): unknown => {
      const map = nodeAt(path);
      return (isMap(map) ? pairOf(map.items, name)?.key : undefined) ?? map;
    },
    /** Aliases without an anchor above them. */
    unresolved,
  };
}

function isMerge(pair: Pair): boolean {
  return isScalar(pair.key) && (pair.key.value === "<<" || typeof pair.key.value === "symbol");
}

/** Walks in the order of the text: an alias refers to the last anchor of its name above it. */
function aliasTargets(document: Document): { targets: ReadonlyMap<Alias, unknown>; unresolved: readonly Alias[] } {
  const anchors = new Map<string, unknown>();
  const targets = new Map<Alias, unknown>();
  const unresolved: Alias[] = [];
  visit(document, {
    Node(_, node) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined && node.anchor !== "") anchors.set(node.anchor, node);
        return;
      }
      const target = anchors.get(node.source);
      if (target === undefined) unresolved.push(node);
      else targets.set(node, target);
    },
  });
  return { targets, unresolved };
}
