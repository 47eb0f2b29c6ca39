import { parseSync } from "vite";

export interface ShownWords {
  readonly line: number;
  readonly text: string;
}

type Node = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>;

/** Attributes without visible text. */
const mute =
  /^(?:className|classNames|id|key|to|href|src|type|size|variant|color|c|fw|fz|ff|lh|ta|tt|w|h|m[trblxy]?|p[trblxy]?|gap|align|justify|wrap|position|role|rel|target|method|autoComplete|inputMode|pattern|lang|component|order|orientation|withBorder|radius|layout|mode|cursor|dataKey|stroke|fill|viewBox|d|x|y|[xy]\d?|text|tags|style|styles|display|visibleFrom|hiddenFrom|accept|loading|tone|status|defaultColorScheme|better|place|path|kind|labelElement|clampBehavior|decoding|captionSide|underline|curveType|shapeRendering|firstStep|mark|rightSectionPointerEvents|scope|m[ai][wh]|by|flex|preload|preserveAspectRatio|autoCapitalize|data-[\w-]+|aria-(?:busy|live|current|controls|labelledby|describedby|haspopup|hidden|expanded|orientation|sort|autocomplete|pressed))$/;

/** A string counts as text if it has two words, or one capitalized word. */
const readsAsWords = /\p{L}{2,} \p{L}{2,}|^\s*\p{Lu}\p{Ll}+[.!?:…]?\s*$|\p{Script=Han}/u;
/** In a template with values, one word is enough. */
const readsBesideValues = /(?:^|\s)\p{L}{2,}(?:\s|$)|\p{Script=Han}/u;
const hasText = /\p{L}/u;
/** Sizes, paths and addresses. */
const isCode = /^(?:\d+rem|xs|sm|md|lg|xl|-\w+|\/\S*|https?:\/\/\S*)$/;

/** Finds the hard-coded texts of a file. */
export function shownWords(file: string, code: string): readonly ShownWords[] {
  const { program, errors } = parseSync(file, code);
  if (errors.length > 0) throw new Error(`${file} cannot be read: ${errors[0]?.message}`);
  const found: ShownWords[] = [];
  const take = (node: Node, text: string) => {
    found.push({ line: code.slice(0, node.start).split("\n").length, text: text.trim().replace(/\s+/g, " ") });
  };
  visit(program as unknown as Node, false, take);
  return found;
}

/** `drawn`: the value of this node is rendered, so any word counts as text. */
function visit(node: Node, drawn: boolean, take: (node: Node, text: string) => void): void {
  const words = wordsOf(node, drawn);
  if (words !== null) take(node, words);
  for (const [inner, innerDrawn] of partsOf(node, drawn)) visitAll(inner, innerDrawn, take);
}

function visitAll(inner: unknown, drawn: boolean, take: (node: Node, text: string) => void): void {
  if (Array.isArray(inner)) for (const each of inner) visitAll(each, drawn, take);
  else if (isNode(inner)) visit(inner, drawn, take);
}

function wordsOf(node: Node, drawn: boolean): string | null {
  const [text, reads] = textOf(node);
  return typeof text === "string" && !isCode.test(text) && (drawn ? hasText : reads).test(text) ? text : null;
}

function textOf(node: Node): [text: unknown, reads: RegExp] {
  if (node.type === "JSXText") return [node["value"], hasText];
  if (node.type === "Literal") return [node["value"], readsAsWords];
  if (node.type !== "TemplateElement") return [null, readsAsWords];
  return [(node["value"] as { readonly cooked?: unknown } | undefined)?.cooked, readsBesideValues];
}

type Part = readonly [inner: unknown, drawn: boolean];

/** The parts of a node to visit, and whether each is rendered. */
function partsOf(node: Node, drawn: boolean): readonly Part[] {
  const all: readonly Part[] = Object.values(node).map((inner) => [inner, false]);
  switch (node.type) {
    case "JSXAttribute":
      return mute.test(nameOf(node["name"]))
        ? []
        : [[node["value"], !/^(?:value|defaultValue|name)$/.test(nameOf(node["name"]))]];
    case "JSXElement":
      return [
        [node["openingElement"], false],
        [node["children"], !isCodeElement(node["openingElement"])],
      ];
    case "JSXFragment":
      return [
        [node["openingElement"], false],
        [node["children"], true],
      ];
    case "JSXExpressionContainer":
      return [[node["expression"], drawn]];
    case "ConditionalExpression":
      return [
        [node["test"], false],
        [node["consequent"], drawn],
        [node["alternate"], drawn],
      ];
    case "LogicalExpression":
      return [
        [node["left"], node["operator"] !== "&&" && drawn],
        [node["right"], drawn],
      ];
    case "TemplateLiteral":
      return [
        [node["expressions"], drawn],
        [node["quasis"], drawn],
      ];
    case "Property":
      return mute.test(nameOf(node["key"])) ? [] : [[node["value"], false]];
    case "NewExpression":
      return nameOf(node["callee"]).endsWith("Error") ? [] : all;
    case "BinaryExpression":
      // Compared literals are codes.
      return [node["left"], node["right"]]
        .filter((side) => isNode(side) && side.type !== "Literal")
        .map((side) => [side, false]);
    case "SwitchCase":
      return [[node["consequent"], false]];
    case "ImportDeclaration":
    case "ExportAllDeclaration":
      return [];
    case "ExportNamedDeclaration":
      return [[node["declaration"], false]];
    default:
      return /^TS(?!As|Satisfies|NonNull)/.test(node.type) ? [] : all;
  }
}

function isNode(value: unknown): value is Node {
  return value !== null && typeof value === "object" && typeof Reflect.get(value, "type") === "string";
}

/** Its content is the same in every language. */
function isCodeElement(opening: unknown): boolean {
  return isNode(opening) && /^(?:code|Code|Kbd|kbd)$/.test(nameOf(opening["name"]));
}

function nameOf(node: unknown): string {
  if (!isNode(node)) return "";
  if (node.type === "JSXNamespacedName") return `${nameOf(node["namespace"])}:${nameOf(node["name"])}`;
  return typeof node["name"] === "string" ? node["name"] : typeof node["value"] === "string" ? node["value"] : "";
}
