import { type Document, Lexer, LineCounter, parseDocument, visit } from "yaml";
import { bounds } from "#core/index.ts";
import { yamlMessages } from "./yaml-messages.ts";
import { createNodeFinder } from "./yaml-path.ts";

interface Position {
  readonly line: number;
  readonly column: number;
}

interface SourceFault extends Position {
  readonly message: string;
}

/** A parsed config text that still knows where everything stood. JSON is read as the YAML it is. */
export interface YamlSource {
  readonly document: Document;
  readonly faults: readonly SourceFault[];
  /** The node at a path, or the nearest one around it. */
  nodeAt(path: readonly PropertyKey[]): unknown;
  positionOf(path: readonly PropertyKey[]): Position;
  /** Where the key `name` of the map at `path` stands. */
  positionOfKey(path: readonly PropertyKey[], name: string): Position;
}

/** Never throws: whatever is wrong is among `faults`. */
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
  // The parser may say the same of one place twice.
  const told = new Set<string>();
  const faults = found.filter(({ line, column, message }) => {
    const one = `${line} ${column} ${message}`;
    return !told.has(one) && told.add(one);
  });
  for (const alias of finder.lost) faults.push({ ...position(startOf(alias)), message: yamlMessages.BAD_ALIAS });
  return {
    document,
    faults,
    nodeAt: finder.nodeAt,
    positionOf: (path) => position(startOf(finder.nodeAt(path))),
    positionOfKey: (path, name) => position(startOf(finder.keyAt(path, name))),
  };
}

// Two code points that Unicode keeps out of every text, so none is ever mistaken for a mark.
const openMark = "\ufdd0";
const closeMark = "\ufdd1";

/**
 * Inside `{ }` and `[ ]` the braces of an unquoted `${NAME}` would be read as those of a map. They are marks of the
 * same length while the parser runs. Only this notation is touched; values come in after parsing.
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
 * Where nesting passes bounds.configDepthMax. The lexer gives this in linear time; the parser behind it needs minutes
 * for a file of a million brackets. Depth by indentation needs a line for each step and cannot grow that far.
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
    if (flowDepth > bounds.configDepthMax || indicators > bounds.configDepthMax) return offset;
    // The lexer's own marks (document, scalar, flow end) are single control characters that are not in the text.
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
  const message = `nested more than ${bounds.configDepthMax} levels deep`;
  const document: Document = parseDocument("{}");
  return {
    document,
    faults: [{ ...position, message }],
    nodeAt: () => document.contents,
    positionOf: () => position,
    positionOfKey: () => position,
  };
}
