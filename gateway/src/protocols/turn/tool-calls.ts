import { createHash } from "node:crypto";
import type { Answer, AnswerBlock, AnswerEvent, BlockHead, ToolChoice, TurnTool } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { type JsonObject, parseObject } from "../json/value.ts";

const encodedMark = "sx-";
const safe = /^[a-zA-Z0-9_-]+$/;

/**
 * Encodes an id or tool name for `^[a-zA-Z0-9_-]+$` (Anthropic). Valid names stay; others get the mark, `__` for an underscore and
 * `_<hex>_` for other characters, which `decodeName` reverses.
 */
export function encodeName(name: string): string {
  if (safe.test(name) && !name.startsWith(encodedMark)) return name;
  return (
    encodedMark +
    name.replace(/[^a-zA-Z0-9-]/g, (unit) => (unit === "_" ? "__" : `_${unit.charCodeAt(0).toString(16)}_`))
  );
}

/** Reverses `encodeName`; other texts stay. */
export function decodeName(name: string): string {
  if (!name.startsWith(encodedMark)) return name;
  const plain = name.slice(encodedMark.length).replace(/__|_([0-9a-f]{1,4})_/g, (_, hex: string | undefined) => {
    return hex === undefined ? "_" : String.fromCharCode(Number.parseInt(hex, 16));
  });
  return encodeName(plain) === name ? plain : name;
}

/** Limit of OpenAI's dialects and Converse. Anthropic and Google accept 128. */
const charactersMax = 64;
const digestCharacters = 12;

/**
 * A tool name for `^[a-zA-Z0-9_-]{1,64}$`. Long names keep their beginning and get a digest, so that they stay readable, unique and
 * stable.
 */
export function shortToolName(name: string): string {
  const safe = encodeName(name);
  if (safe.length <= charactersMax) return safe;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, digestCharacters);
  const beginning = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, charactersMax - digestCharacters - 1);
  return `${beginning}_${digest}`;
}

/** The id, or a stable digest if it is too long. */
export function shortId(id: string, prefix: string, idCharactersMax: number): string {
  if (id.length <= idCharactersMax) return id;
  return prefix + createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** Restores tool names that were shortened for the upstream. */
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

/** Vendors omit the arguments of tools that take none. */
export function argumentsOrEmpty(text: string): string {
  return text.trim() === "" ? "{}" : text;
}

/** The arguments as an object. Other text goes under `_raw`. */
export function argumentsObject(text: string, warn: Warn): JsonObject {
  const object = parseObject(text);
  if (object !== null) return object;
  warn("the arguments of a tool call are not a JSON object and were sent as _raw");
  return { _raw: text };
}

export function isForced(choice: ToolChoice | null): boolean {
  return choice?.kind === "any" || choice?.kind === "tool";
}
