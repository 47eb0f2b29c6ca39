import { bounds, Failure } from "#core/index.ts";
import type { PathFacts, RequestFacts } from "../dialect.ts";
import { JsonInvalid, type Span, scanObject } from "../json-scan.ts";
import { missing, wrong } from "../json-value.ts";
import { readCount, readLabel, requireItems, scanRequest } from "../request-members.ts";
import { estimateTokens } from "./size-estimate.ts";

/** The vendor reads both spellings of every name (protobuf's JSON mapping). */
const wanted: ReadonlySet<string> = new Set([
  "contents",
  "systemInstruction",
  "system_instruction",
  "tools",
  "generationConfig",
  "generation_config",
  "cachedContent",
  "cached_content",
]);
const wantedConfig: ReadonlySet<string> = new Set([
  "maxOutputTokens",
  "max_output_tokens",
  "candidateCount",
  "candidate_count",
]);

/** Reads what governs a generateContent request; the model and whether it streams are said by the path. */
export function readGeminiRequest(body: Uint8Array, path: PathFacts | null): RequestFacts {
  if (path === null || path.model === "") throw missing("model");
  if (path.model.length > bounds.modelNameBytesMax) throw wrong("model", "is longer than any model's name");
  const members = scanRequest(body, wanted);
  const contents = requireItems(body, members.get("contents"), "contents", "content");
  const config = members.get("generationConfig") ?? members.get("generation_config");
  const instruction = members.get("systemInstruction") ?? members.get("system_instruction");
  return {
    model: path.model,
    modelSpan: null,
    stream: path.stream,
    wantsUsage: true,
    outputTokensMax: config === undefined ? null : outputTokensMax(body, config),
    inputEstimate: estimateAll(body, [contents, instruction, members.get("tools")]),
    streamOptionsSpan: null,
    // A cache is known to one account only, and is worth something only there.
    affinity: readLabel(body, members.get("cachedContent") ?? members.get("cached_content")),
    continues: null,
    keeps: false,
    images: 0,
  };
}

/** The model is in the path: the body goes on as it is. */
export function patchGeminiRequest(body: Uint8Array): Uint8Array {
  return body;
}

function outputTokensMax(body: Uint8Array, config: Span): number | null {
  if (body[config.start] !== 0x7b) return null;
  const inner = body.subarray(config.start, config.end);
  const members = scanConfig(inner);
  const cap = readCount(inner, members.get("maxOutputTokens") ?? members.get("max_output_tokens"));
  const candidates = readCount(inner, members.get("candidateCount") ?? members.get("candidate_count")) ?? 1;
  return cap === null ? null : cap * Math.max(1, candidates);
}

/** The whole body was checked before, so what is left to object to is a member that stands twice. */
function scanConfig(inner: Uint8Array): Map<string, Span> {
  try {
    return scanObject(inner, wantedConfig);
  } catch (thrown) {
    if (!(thrown instanceof JsonInvalid)) throw thrown;
    throw new Failure("invalid_request", `generationConfig is not valid: ${thrown.message}.`, {
      param: "generationConfig",
    });
  }
}

function estimateAll(body: Uint8Array, spans: readonly (Span | undefined)[]): number {
  let tokens = 0;
  for (const span of spans) if (span !== undefined) tokens += estimateTokens(body, span);
  return tokens;
}
