import { createHash } from "node:crypto";
import type { Answer, AnswerBlock, AnswerEvent, BlockHead, TurnTool } from "#core/index.ts";
import { safeName } from "./anthropic-messages/safe-name.ts";

/** OpenAI's APIs, all that copy them, and Bedrock's Converse take no longer ones; Anthropic and Google take twice as much. */
const charactersMax = 64;
const digestCharacters = 12;

/**
 * A tool's name as these upstreams take it, `^[a-zA-Z0-9_-]{1,64}$`. One that is too long keeps its beginning, so that the
 * model can still read it, and gets a digest of the whole, so that no two become the same: the same one each time.
 */
export function shortToolName(name: string): string {
  const safe = safeName(name);
  if (safe.length <= charactersMax) return safe;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, digestCharacters);
  const beginning = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, charactersMax - digestCharacters - 1);
  return `${beginning}_${digest}`;
}

/** The names by which the caller knows its tools, where they were too long to be told to the upstream. */
export class OwnToolNames {
  readonly #byShort: ReadonlyMap<string, string>;

  constructor(tools: readonly TurnTool[]) {
    const long = tools.filter(({ name }) => safeName(name).length > charactersMax);
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
