import type { Turn } from "#core/index.ts";
import type { TurnTarget, Warn } from "../codec.ts";
import type { JsonObject } from "../json-value.ts";
import { unsupported } from "../json-value.ts";
import { generationOf } from "./model-generation.ts";
import { writeThinking } from "./write-thinking.ts";

/** What of a turn governs generation; null when it says nothing. */
export function writeGeneration(turn: Turn, target: TurnTarget, warn: Warn): JsonObject | null {
  if (turn.choices > 1) throw unsupported("n", "The upstream can be asked for one answer at a time only.");
  if (turn.verbosity !== null) warn("verbosity is not understood by the upstream and was left out");
  const config: Record<string, unknown> = {};
  put(config, "temperature", turn.temperature);
  put(config, "topP", turn.topP);
  put(config, "topK", turn.topK);
  put(config, "maxOutputTokens", turn.outputTokensMax);
  put(config, "presencePenalty", turn.presencePenalty);
  put(config, "frequencyPenalty", turn.frequencyPenalty);
  put(config, "seed", seedOf(turn.seed, warn));
  const stop = stopSequences(turn.stop, warn);
  if (stop.length > 0) config["stopSequences"] = stop;
  if (turn.pictures === true) config["responseModalities"] = ["TEXT", "IMAGE"];
  putFormat(config, turn, target, warn);
  put(config, "thinkingConfig", writeThinking(turn.reasoning, target.upstreamModel, warn));
  return Object.keys(config).length === 0 ? null : config;
}

const stopSequencesMax = 5;
const seedMax = 2 ** 31 - 1;

function put(config: Record<string, unknown>, name: string, value: unknown): void {
  if (value !== null) config[name] = value;
}

/** The vendor's seed has 32 bits. */
function seedOf(seed: number | null, warn: Warn): number | null {
  if (seed === null || (Number.isInteger(seed) && Math.abs(seed) <= seedMax)) return seed;
  warn("seed is too large for the upstream and was left out");
  return null;
}

function stopSequences(stop: readonly string[], warn: Warn): readonly string[] {
  const said = stop.filter((sequence) => sequence !== "");
  if (said.length > stopSequencesMax) {
    warn(`the upstream takes ${stopSequencesMax} stop sequences; the others were left out`);
  }
  return said.slice(0, stopSequencesMax);
}

function putFormat(config: Record<string, unknown>, turn: Turn, target: TurnTarget, warn: Warn): void {
  const { format } = turn;
  if (format === null || format.kind === "text" || formatInWords(turn, target) !== null) return;
  config["responseMimeType"] = "application/json";
  if (format.kind === "json") return;
  if (target.traits.noSchemaOutput === true) {
    warn("the schema of the answer is not understood by the upstream; JSON was asked for in its place");
  } else {
    config["responseJsonSchema"] = format.schema;
  }
}

/**
 * What the instructions must say of the answer's format, because the request cannot: models before Gemini 3 refuse JSON beside
 * functions ("Function calling with a response mime type: 'application/json' is unsupported"). null: nothing.
 */
export function formatInWords({ format, tools }: Turn, { upstreamModel }: TurnTarget): string | null {
  if (format === null || format.kind === "text" || tools.length === 0) return null;
  if ((generationOf(upstreamModel) ?? jsonBesideFunctionsSince) >= jsonBesideFunctionsSince) return null;
  const asked = "Once you call no more functions, answer with one JSON object and nothing else.";
  if (format.kind === "json") return asked;
  return `${asked} It must fit this JSON Schema:\n${JSON.stringify(format.schema)}`;
}

const jsonBesideFunctionsSince = 3;
