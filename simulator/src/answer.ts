import { bounds } from "./bounds.ts";
import type { Asked } from "./dialect.ts";
import { sampleValue } from "./sample-value.ts";
import type { Script } from "./script.ts";

/** The answer before any dialect: the same words for every choice, one word one event one token. */
export interface Answer {
  readonly choices: number;
  /** Pieces of each choice. */
  readonly count: number;
  piece(index: number): string;
  /** Set when the pieces are the arguments of a call and not text. */
  readonly tool: string | null;
  readonly finish: "stop" | "length" | "tool_calls";
  /** Null when the script leaves usage out. */
  readonly usage: AnswerUsage | null;
  /** True totals, whatever the usage says. */
  readonly promptTokens: number;
  readonly reasoningTokens: number;
}

export interface AnswerUsage {
  readonly prompt: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
}

export function composeAnswer(asked: Asked, script: Script): Answer {
  const pieces = piecesFor(asked, script);
  const wanted = script.tokens ?? pieces.length;
  const count = Math.min(wanted, asked.outputMax, bounds.tokensMax);
  const full = script.giant_event_bytes === undefined ? null : pad(pieces[0] ?? "", script.giant_event_bytes);
  const finish = count < wanted ? "length" : asked.tool === null ? "stop" : "tool_calls";
  const promptTokens = script.prompt_tokens ?? asked.promptTokens;
  const reasoningTokens = script.reasoning_tokens ?? 0;
  return {
    choices: asked.choices,
    count,
    piece: (index) => (index === 0 && full !== null ? full : (pieces[index % pieces.length] ?? "")),
    tool: asked.tool?.name ?? null,
    finish,
    usage: usageFor(script, promptTokens, count * asked.choices + reasoningTokens),
    promptTokens,
    reasoningTokens,
  };
}

/** The whole text of one choice. */
export function wholeText(answer: Answer): string {
  if (answer.count === 0) return "";
  let text = "";
  for (let index = 0; index < answer.count; index += 1) text += answer.piece(index);
  return text;
}

function usageFor(script: Script, prompt: number, output: number): AnswerUsage | null {
  if (script.no_usage === true) return null;
  if (script.zero_usage === true) return { prompt: 0, cached: 0, output: 0, reasoning: 0 };
  return {
    prompt,
    cached: Math.min(script.cached_tokens ?? 0, prompt),
    output,
    reasoning: script.reasoning_tokens ?? 0,
  };
}

function piecesFor(asked: Asked, script: Script): readonly string[] {
  if (asked.tool !== null) return inPieces(JSON.stringify(sampleValue(asked.tool.parameters, topic(asked))));
  if (asked.schema !== null) return inPieces(JSON.stringify(sampleValue(asked.schema, topic(asked))));
  if (script.tokens !== undefined) return filler;
  return demoPieces(asked.prompt);
}

const filler = words(" the quick brown fox jumps over the lazy dog and then it rests a while.");
const echoWordsMax = 24;
const echoCharactersMax = 400;

function demoPieces(prompt: string): readonly string[] {
  const echo = firstWords(prompt, echoWordsMax);
  if (echo.length === 0) return ["Hello!", ...demoTail];
  return ["You", " asked:", ...echo.map((word) => ` ${word}`), ...demoTail];
}

/** The first words, quoted as a whole. Looks no further into a long prompt than it must. */
function firstWords(prompt: string, most: number): string[] {
  const found = prompt
    .slice(0, echoCharactersMax)
    .split(/\s+/, most + 1)
    .filter((word) => word !== "");
  if (found.length === 0) return [];
  const more = found.length > most || prompt.length > echoCharactersMax;
  const quoted = found.slice(0, most);
  quoted[0] = `"${quoted[0]}`;
  quoted[quoted.length - 1] += more ? ' ..."' : '"';
  return quoted;
}

const demoTail = words(
  "\n\nThis is Sluice's offline demo speaking: no provider was called and nothing was spent. " +
    "Everything else is real: your key was checked, limits were applied, and this call is in the ledger." +
    "\n\nFor real answers, give Sluice a provider: set OPENAI_API_KEY (or another vendor's key) and start it again, " +
    "or list the provider in the config file.",
);

/** Words with the white space before them, so that the pieces join into the text. */
function words(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

function inPieces(text: string): readonly string[] {
  return text.match(/[\s\S]{1,6}/gu) ?? [text];
}

function topic(asked: Asked): string {
  return asked.prompt.split(/\s+/, 8).join(" ");
}

function pad(piece: string, bytes: number): string {
  return piece + "x".repeat(Math.max(0, bytes - piece.length));
}
