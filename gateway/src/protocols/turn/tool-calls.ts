import { createHash } from "node:crypto";
import type { Answer, AnswerBlock, AnswerEvent, BlockHead, ToolChoice, TurnTool } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { type JsonObject, parseObject } from "../json/value.ts";

const encodedMark = "sx-";
const safe = /^[a-zA-Z0-9_-]+$/;

/**
 * Ids and names of tools as Anthropic takes them, `^[a-zA-Z0-9_-]+$`. Another dialect's are kept where they fit;
 * where not, the mark is put before them, an underscore is doubled and every other stranger becomes `_<hex>_`, so that
 * a model can still read a name and `plainName` finds the original again.
 */
export function encodeName(name: string): string {
  if (safe.test(name) && !name.startsWith(encodedMark)) return name;
  return (
    encodedMark +
    name.replace(/[^a-zA-Z0-9-]/g, (unit) => (unit === "_" ? "__" : `_${unit.charCodeAt(0).toString(16)}_`))
  );
}

/** What `safeName` was given; any other text stays as it is. */
export function decodeName(name: string): string {
  if (!name.startsWith(encodedMark)) return name;
  const plain = name.slice(encodedMark.length).replace(/__|_([0-9a-f]{1,4})_/g, (_, hex: string | undefined) => {
    return hex === undefined ? "_" : String.fromCharCode(Number.parseInt(hex, 16));
  });
  return encodeName(plain) === name ? plain : name;
}

/** OpenAI's APIs, all that copy them, and Bedrock's Converse take no longer ones; Anthropic and Google take twice as much. */
const charactersMax = 64;
const digestCharacters = 12;

/**
 * A tool's name as these upstreams take it, `^[a-zA-Z0-9_-]{1,64}$`. One that is too long keeps its beginning, so that the
 * model can still read it, and gets a digest of the whole, so that no two become the same: the same one each time.
 */
export function shortToolName(name: string): string {
  const safe = encodeName(name);
  if (safe.length <= charactersMax) return safe;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, digestCharacters);
  const beginning = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, charactersMax - digestCharacters - 1);
  return `${beginning}_${digest}`;
}

/** The id itself where it fits, else a digest of it: the same each time. */
export function shortId(id: string, prefix: string, idCharactersMax: number): string {
  if (id.length <= idCharactersMax) return id;
  return prefix + createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** The names by which the caller knows its tools, where they were too long to be told to the upstream. */
export class CallerToolNames {
  readonly #byShort: ReadonlyMap<string, string>;

  constructor(tools: readonly TurnTool[]) {
    const long = tools.filter(({ name }) => encodeName(name).length > charactersMax);
    this.#byShort = new Map(long.map(({ name }) => [shortToolName(name), name]));
  }

  event(event: AnswerEvent): AnswerEvent {
    if (this.#byShort.size === 0 || event.kind !== "block-start") return event;
    return { ...event, block: this.#own(event.block) };
  }

  answer(answer: Answer): Answer {
    if (this.#byShort.size === 0) return answer;
    return { ...answer, blocks: answer.blocks.map((block) => this.#own(block)) };
  }

  #own<Named extends AnswerBlock | BlockHead>(named: Named): Named {
    if (named.kind !== "tool-call") return named;
    const name = this.#byShort.get(named.name);
    return name === undefined ? named : { ...named, name };
  }
}

/** Arguments as the neutral form has them: always JSON text. Vendors leave them out, or empty, for a tool that takes none. */
export function argumentsOrEmpty(text: string): string {
  return text.trim() === "" ? "{}" : text;
}

/** The arguments of a call where a dialect wants an object. Text that is no object goes under `_raw`, so that nothing is lost. */
export function argumentsObject(text: string, warn: Warn): JsonObject {
  const object = parseObject(text);
  if (object !== null) return object;
  warn("the arguments of a tool call are not a JSON object and were put under _raw");
  return { _raw: text };
}

export function isForced(choice: ToolChoice | null): boolean {
  return choice?.kind === "any" || choice?.kind === "tool";
}
