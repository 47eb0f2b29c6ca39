import { splice } from "../bytes.ts";
import { bodyNames, choosingIn } from "../choosing-members.ts";
import type { RequestFacts } from "../dialect.ts";
import type { Span } from "../json-scan.ts";
import { missing, wrong } from "../json-value.ts";
import { readLabel, readModel, requireArray, scanRequest } from "../request-members.ts";

const wanted = bodyNames(["model", "input", "user"]);

/** Reads what governs an embeddings request; all else, encoding_format too, is the upstream's to judge. */
export function readEmbeddingsRequest(body: Uint8Array): RequestFacts {
  const members = scanRequest(body, wanted);
  const modelSpan = members.get("model");
  return {
    model: readModel(body, modelSpan),
    modelSpan: modelSpan ?? null,
    stream: false,
    wantsUsage: true,
    // Nothing is generated: nothing is to be reserved for it.
    outputTokensMax: 0,
    inputEstimate: estimateInput(body, members.get("input")),
    streamOptionsSpan: null,
    affinity: readLabel(body, members.get("user")),
    continues: null,
    keeps: false,
    choosing: choosingIn(members),
    images: 0,
  };
}

/** Replaces the model's name. */
export function patchEmbeddingsRequest(body: Uint8Array, facts: RequestFacts, upstreamModel: string): Uint8Array {
  if (facts.modelSpan === null || upstreamModel === facts.model) return body;
  return splice(body, [{ ...facts.modelSpan, text: JSON.stringify(upstreamModel) }]);
}

/** A string, strings, tokens or arrays of tokens: text counts a token per four bytes, tokens are counted. */
function estimateInput(body: Uint8Array, input: Span | undefined): number {
  if (input === undefined) throw missing("input");
  if (body[input.start] === QUOTE) return Math.ceil((input.end - input.start - 2) / 4);
  if (body[input.start] !== OPEN_ARRAY) throw wrong("input", "must be a string or an array");
  const items = requireArray(body, input, "input");
  if (!holdsNumbers(body, items)) return Math.ceil((items.end - items.start) / 4);
  let numbers = 1;
  for (let at = items.start; at < items.end; at++) if (body[at] === COMMA) numbers++;
  return numbers;
}

function holdsNumbers(body: Uint8Array, items: Span): boolean {
  let at = items.start;
  while (at < items.end && (body[at] === OPEN_ARRAY || (body[at] ?? 0) <= 0x20)) at++;
  const first = body[at] ?? 0;
  return first >= 0x30 && first <= 0x39;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
