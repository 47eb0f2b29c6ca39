import { noUsage, type Usage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { arrayOf, countOf, isObject, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { stringsIn } from "../turn/search-request.ts";
import { missingSideOf } from "../usage/read-served.ts";
import { compareTotal, noServerTools, rawUsage, type ServerToolUse, usesTools } from "../usage/reading.ts";
import { generationOf } from "./encodings.ts";
import { modalitiesIn, splitInput, splitTokens } from "./modalities.ts";

/**
 * Splits usageMetadata into classes. `promptTokenCount` includes the cache; `toolUsePromptTokenCount` and `thoughtsTokenCount` come on
 * top. A missing count is zero if any is there. Null without any, unless searches were seen.
 */
export function readGeminiUsage(reported: unknown, grounding: ServerToolUse = noServerTools): UsageReading | null {
  const counts = objectOf(reported);
  const prompt = countOf(counts["promptTokenCount"]);
  const candidates = countOf(counts["candidatesTokenCount"]);
  const total = countOf(counts["totalTokenCount"]);
  const isSilent = prompt === null && candidates === null && total === null;
  if (isSilent && !usesTools(grounding)) return null;
  const thoughts = countOf(counts["thoughtsTokenCount"]) ?? 0;
  const toolUse = countOf(counts["toolUsePromptTokenCount"]) ?? 0;
  const { beyond, unexplained } = compareTotal(total, [prompt, toolUse, candidates, thoughts]);
  const modalities = (name: string) => modalitiesIn(counts[name], "tokenCount");
  const cached = countOf(counts["cachedContentTokenCount"]) ?? 0;
  const output = splitTokens(candidates ?? 0, modalities("candidatesTokensDetails"));
  return {
    usage: {
      ...noUsage,
      ...splitInput(
        { input: prompt ?? 0, cached, toolUse },
        {
          input: modalities("promptTokensDetails"),
          cached: modalities("cacheTokensDetails"),
          toolUse: modalities("toolUsePromptTokensDetails"),
        },
      ),
      output: output.text + thoughts + beyond,
      reasoning: thoughts,
      audioOutput: output.audio,
      imageOutput: output.image,
      ...grounding,
      unexplained,
    },
    raw: rawUsage(objectOf(reported)),
    missingSide: missingSideOf(prompt, candidates),
  };
}

/** Cache writes count as ordinary input. */
export function writeGeminiUsage(usage: Usage): JsonObject {
  const text = usage.inputUncached + usage.cacheWrite5m + usage.cacheWrite1h + usage.cacheRead;
  const audio = usage.audioInput + usage.cacheReadAudio;
  const cached = usage.cacheRead + usage.cacheReadAudio;
  const prompt = text + audio + usage.imageInput;
  const answer = Math.max(0, usage.output - usage.reasoning);
  const thoughts = usage.reasoning + usage.separateReasoning;
  const candidates = answer + usage.audioOutput + usage.imageOutput;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0
      ? { cachedContentTokenCount: cached, cacheTokensDetails: rows(usage.cacheRead, usage.cacheReadAudio, 0) }
      : {}),
    totalTokenCount: prompt + candidates + thoughts,
    ...details("promptTokensDetails", text, audio, usage.imageInput),
    ...details("candidatesTokensDetails", answer, usage.audioOutput, usage.imageOutput),
  };
}

/**
 * Counts grounding: each distinct query of Gemini 3, one for earlier models; one maps search for places, one file search for data store
 * queries (Vertex). Sources: Gemini API docs, "Grounding with Google Search" and "Grounding with Google Maps", Pricing.
 */
export function groundingIn(candidates: readonly unknown[], modelVersion: unknown): ServerToolUse {
  const all = candidates.map((candidate) => objectOf(objectOf(candidate)["groundingMetadata"]));
  const queries = new Set(
    all.flatMap(({ webSearchQueries }) => stringsIn(webSearchQueries)).filter((query) => query.trim() !== ""),
  );
  const generation = generationOf(textOf(modelVersion) ?? "");
  return {
    webSearches: generation !== null && generation < 3 ? Math.min(1, queries.size) : queries.size,
    fileSearches: all.some(({ retrievalQueries }) => arrayOf(retrievalQueries).length > 0) ? 1 : 0,
    mapSearches: all.some(hasPlaces) ? 1 : 0,
    codeSessions: 0,
  };
}

/** A quick search of the bytes. */
export function mayBeGrounded(bytes: Buffer): boolean {
  return groundingMarks.some((mark) => bytes.includes(mark));
}

const groundingMarks = ['"webSearchQueries"', '"retrievalQueries"', '"maps"', '"googleMapsWidgetContextToken"'].map(
  (mark) => Buffer.from(mark),
);

function hasPlaces({ groundingChunks, googleMapsWidgetContextToken }: JsonObject): boolean {
  return (
    textOf(googleMapsWidgetContextToken) !== null ||
    arrayOf(groundingChunks).some((chunk) => isObject(objectOf(chunk)["maps"]))
  );
}

function details(name: string, text: number, audio: number, image: number): JsonObject {
  if (audio + image === 0) return {};
  return { [name]: rows(text, audio, image) };
}

function rows(text: number, audio: number, image: number): readonly object[] {
  const tokens = Object.entries({ TEXT: text, AUDIO: audio, IMAGE: image }).filter(([, count]) => count > 0);
  return tokens.map(([modality, tokenCount]) => ({ modality, tokenCount }));
}
