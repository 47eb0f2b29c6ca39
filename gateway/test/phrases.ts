import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

const root = join(import.meta.dir, "..", "..");

/** A text in a file, with its offset. */
interface Text {
  readonly kind: "comment" | "text" | "title" | "markdown" | "name";
  readonly text: string;
  readonly at: number;
}

export interface Hit {
  readonly file: string;
  readonly line: number;
  readonly kind: Text["kind"];
  readonly phrase: string;
  readonly text: string;
}

/** Phrases that our style avoids: metaphors, participles without a noun, another language's word order, British spelling. */
const phrases = new RegExp(
  [
    // Metaphors, and participles without a noun.
    /\b(?:told|tells?|heard|hears?|said|says?|(?<!well-)known|letters?(?! and| or|,|s?\b[^.]*\bdigits?)|desks?|shel(?:f|ves)|farewell|annex)\b/,
    /\b(?:let|lets|letting) go\b|\blook(?:s|ed|ing)? (?:at|for|like|after)\b|\b(?:is|are|was|were|be|been|not) (?:asked|seen|looked)\b/,
    /\b(?:stands?|stood)(?!-alone|alone)\b|\b(?:lies|lay) (?:in|at|on|with|behind|beside|ahead|elsewhere|there)\b/,
    /\b(?:dear(?:er|est)?|mended?|errands?|riddles?|doers?|wishes|unwell|the books?(?! of)|at its feet|hand on|handed on|taken in|takes? in|let in|given out|gives? out)\b/,
    /\b(?:goes|go|went|going|gone) on\b|\b(?:leaves?|left) behind\b|\b(?:is|are|was|were) (?:let|done) (?:with|of)\b|\bin force\b/,
    // Sentences built in another language's order.
    /\bto be had\b|\bmust be so\b|\b(?:nothing|none|something|much|all|more|less) of (?:it|that|them|this)\b|\bbesides?\b|\bwhose\b/,
    /\b(?:some|any|no|every)body\b|\b(?:who|what|which|wher)ever\b|\bone's\b|\bby (?:itself|themselves|himself)\b|\bof (?:its|their|one's|our) own\b/,
    /\b(?:that|those) of\b|\bthose (?:that|which|who)\b|\bsuch ones?\b|\bnot yet so\b|\bso it (?:is|does|was)\b|\bas long as it (?:is|stands)\b/,
    /\b(?:made of|made out of|beforehand|thereby|thereof|therein|hereby|whence|hence|wherein|thence|lest|shall|need not|upon|nought|aught)\b/,
    /(?<=^|[.:;] |\n\s*\* )(?:What|Whoever|Whatever|Of (?:what|which|whom|all|those|these)|Until when|Since when|By what|In what|On what|To what|From what|Those|Whose)\b(?![^.\n]*\?)/,
    /\bbut (?:once|by|for|through)\b|\bnothing but\b|\bnone but\b|\bno more than that\b|\bso many\b|\bonce more\b/,
    // British spelling.
    /\b\w*(?:colour|flavour|behaviour|favour|honour|neighbour|catalogue|licence)\w*\b/,
    /\b(?:author|organ|recogn|normal|serial|initial|summar|optim|minim|maxim|util|synchron|token|special|prior|general|categor|final|real|custom)(?:it)?is(?:e[ds]?|ing|ation|ations|er|ers)\b/,
    /\b(?:cancell|labell|travell|modell|signall|channell|total{2})(?:ed|ing|er|ers)\b|\b(?:centres?|metres?|grey|defence|analyse[ds]?|judgements?|fulfil|programmes?|learnt|spelt|whilst|amongst|towards|practise)\b/,
  ]
    .map((pattern) => pattern.source)
    .join("|"),
  "gi",
);

/** Words that say nothing in the name of a declaration or a file: bare participles and metaphors. */
const nameWords =
  /^(?:told|heard|said|known|unsaid|shelf|shelves|desk|letter|letters|farewell|look|looks|looked|passed|annex|errand|kept|taken|given|asked|meant|stood|stands|deaf|ago)$/i;
const declaration =
  /\b(?:const|let|function|type|interface|class|readonly|async|get|set) +#?([A-Za-z_$][\w$]*)|^ {2,4}(?:async |static |readonly )*#?([A-Za-z_$][\w$]*)\??(?=\(.*\{$|: )/gm;

/** Names that must not come back: as part of a name, or as a whole name. */
const retired =
  /^\w*(?:House(?=[A-Z]|$)|Doer|Wishes|Keepers\b|KeptCall|Unwell|ReportDesk|BackgroundBill|planLegs|readLook|nothingRead|HttpFace)\w*$/;
const retiredWhole = /^(?:wish|wishes|house|roof|rim|\w*Faces?|faces?|doors?|legs?|doer|studio|supply|unwell|tells)$/i;

const tokens =
  /(\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*|\/\*[\s\S]*?\*\/)|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\$]|\\.|\$(?!\{)|\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})*)`|(?<=[(,=:[!&|?{};\n>] ?|return |=> )\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[dgimsuvy]*/g;

const title = /\b(?:test|it|describe)(?:\.\w+(?:\([^()]*\))?)*\(\s*$/;

function textsOf(path: string, content: string): Text[] {
  if (path.endsWith(".md")) {
    const lines = content.replaceAll(/```[\s\S]*?```/g, (block) => block.replaceAll(/[^\n]/g, " "));
    return [...lines.matchAll(/[^\n]+/g)].map((match) => ({ kind: "markdown", text: match[0], at: match.index }));
  }
  const fileName = path.replace(/^.*\//, "").replace(/\..*$/, "").replaceAll("-", "_");
  const texts: Text[] = [{ kind: "name", text: fileName, at: 0 }];
  for (const match of content.matchAll(tokens)) {
    const [, comment, ...strings] = match;
    const string = strings.find((each) => each !== undefined);
    if (comment !== undefined) texts.push({ kind: "comment", text: comment, at: match.index });
    else if (string !== undefined) {
      if (title.test(content.slice(Math.max(0, match.index - 60), match.index)))
        texts.push({ kind: "title", text: string, at: match.index });
      else if (string.length > 25 && string.includes(" ")) texts.push({ kind: "text", text: string, at: match.index });
    }
  }
  for (const match of content.replaceAll(tokens, (token) => token.replaceAll(/[^\n]/g, "_")).matchAll(declaration))
    texts.push({ kind: "name", text: match[1] ?? match[2] ?? "", at: match.index });
  return texts;
}

function phrasesIn({ kind, text }: Text): { readonly phrase: string; readonly at: number }[] {
  if (kind !== "name") {
    const plain = text.replace(/^(\/\*\*?|\/\/) ?/, (start) => `${" ".repeat(start.length - 1)}\n`);
    return [...plain.matchAll(phrases)].map((match) => ({ phrase: match[0], at: match.index }));
  }
  const isRiddle = text.split(/(?=[A-Z])|_/).some((word) => nameWords.test(word));
  return isRiddle || isRetired(text) ? [{ phrase: text, at: 0 }] : [];
}

function isRetired(name: string): boolean {
  return retired.test(name) || retiredWhole.test(name);
}

/** Sources and prose, without generated files. */
function filesBelow(paths: readonly string[]): string[] {
  const patterns = paths.flatMap((path) =>
    /\.\w+$/.test(path) ? [path] : [`${path.replace(/\/$/, "")}/**/*.{ts,tsx,mjs,md}`],
  );
  const files = patterns.flatMap((pattern) =>
    existsSync(join(root, pattern)) ? [pattern] : [...new Glob(pattern).scanSync(root)],
  );
  return [...new Set(files)].filter((file) => !skipped.test(file)).sort();
}

const skipped = /node_modules\/|\/dist\/|^site\/build\/|^gateway\/test\/phrases\.|\/models-dev|price-list\.json/;

const everywhere = [
  ...["gateway", "console", "contract", "simulator", "bench", "test", "scripts", "site", "docs", "deploy"],
  ...["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"],
];

/** A module of the gateway, a feature of the console, or the folder at the root. */
function folderOf(file: string): string {
  const parts = file.split("/");
  if (parts.length === 1) return file;
  const depth = /^(?:gateway|console\/src)\//.test(file) ? 3 : file.startsWith("docs/") ? 2 : 1;
  return parts.slice(0, Math.min(depth, parts.length - 1)).join("/");
}

/** Paths are folders or files, relative to the root of the repository. */
export function readPhrases(paths: readonly string[] = everywhere): {
  readonly hits: readonly Hit[];
  readonly lines: ReadonlyMap<string, number>;
} {
  const hits: Hit[] = [];
  const lines = new Map<string, number>();
  for (const file of filesBelow(paths)) {
    const content = readFileSync(join(root, file), "utf8");
    const folder = folderOf(file);
    lines.set(folder, (lines.get(folder) ?? 0) + content.split("\n").length - 1);
    for (const text of textsOf(file, content)) {
      for (const { phrase, at } of phrasesIn(text)) {
        const line = content.slice(0, text.at + at).split("\n").length;
        const from = Math.max(0, text.text.lastIndexOf("\n", at) + 1, at - 60);
        const excerpt = text.text.slice(from, at + 80).split("\n")[0] ?? "";
        hits.push({ file, line, kind: text.kind, phrase: phrase.trim(), text: excerpt.trim() });
      }
    }
  }
  return { hits, lines };
}

export function retiredNames(hits: readonly Hit[]): string[] {
  return hits.filter((hit) => hit.kind === "name" && isRetired(hit.phrase)).map((hit) => `${hit.file}: ${hit.phrase}`);
}

export function countByFolder(hits: readonly Hit[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const hit of hits) counts[folderOf(hit.file)] = (counts[folderOf(hit.file)] ?? 0) + 1;
  return counts;
}

/** The most hits that each folder may have. */
export const boundsFile = join(import.meta.dir, "phrases.json");

// `bun gateway/test/phrases.ts [PATHS]` lists the phrases of some paths, or the counts of all folders; `--write` lowers the bounds.
if (import.meta.main) {
  const paths = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
  const { hits, lines } = readPhrases(paths.length === 0 ? everywhere : paths);
  const counts = countByFolder(hits);
  if (process.argv.includes("--write")) {
    const bounds: Record<string, number> = existsSync(boundsFile) ? await Bun.file(boundsFile).json() : counts;
    const folders = Object.keys(counts).sort();
    const lower = folders.map((folder) => [folder, Math.min(counts[folder] ?? 0, bounds[folder] ?? 0)]);
    await Bun.write(boundsFile, `${JSON.stringify(Object.fromEntries(lower), null, 2)}\n`);
  } else {
    if (paths.length > 0)
      for (const hit of hits) console.log(`${hit.file}:${hit.line} [${hit.phrase}] ${hit.kind}: ${hit.text}`);
    const rows = [...lines].map(([folder, of]) => ({ folder, hits: counts[folder] ?? 0, of }));
    for (const { folder, hits: count, of } of rows.sort((a, b) => b.hits / b.of - a.hits / a.of))
      console.log(
        `${((1000 * count) / of).toFixed(1).padStart(7)} per 1,000 lines  ${String(count).padStart(6)}  ${folder}`,
      );
    console.log(`${hits.length} hits`);
  }
}
