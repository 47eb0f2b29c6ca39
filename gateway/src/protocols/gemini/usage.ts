import { noUsage, type Usage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { arrayOf, countOf, type JsonObject, objectOf, textOf } from "../json-value.ts";
import { rawUsage } from "../raw-usage.ts";
import { untoldOf } from "../untold-usage.ts";
import { generationOf } from "./model-generation.ts";

/**
 * Gemini's usageMetadata into classes that do not overlap. `promptTokenCount` includes what came from the cache;
 * `toolUsePromptTokenCount` and `thoughtsTokenCount` stand beside the others. Zeros may be left out, so a missing count
 * is zero as long as any is there and nothing was seen of what it would count; null when there is none, so that nobody takes
 * silence for zero. Searches are told by the candidates, not here.
 */
export function readGeminiUsage(reported: unknown, webSearches = 0): UsageReading | null {
  const counts = objectOf(reported);
  const prompt = countOf(counts["promptTokenCount"]);
  const candidates = countOf(counts["candidatesTokenCount"]);
  const isSilent = prompt === null && candidates === null && countOf(counts["totalTokenCount"]) === null;
  if (isSilent && webSearches === 0) return null;
  const thoughts = countOf(counts["thoughtsTokenCount"]) ?? 0;
  const output = splitOutput(candidates ?? 0, counts["candidatesTokensDetails"]);
  return {
    usage: {
      ...noUsage,
      ...splitInput(prompt ?? 0, counts),
      output: output.text + thoughts,
      reasoning: thoughts,
      audioOutput: output.audio,
      imageOutput: output.image,
      webSearches,
    },
    raw: rawUsage(objectOf(reported)),
    ...untoldOf(prompt, candidates),
  };
}

/** The usageMetadata that tells these classes; written caches count as ordinary input, as Gemini has no such class. */
export function writeGeminiUsage(usage: Usage): JsonObject {
  const text = usage.inputUncached + usage.cacheWrite5m + usage.cacheWrite1h + usage.cacheRead;
  const prompt = text + usage.audioInput + usage.imageInput;
  const answer = Math.max(0, usage.output - usage.reasoning);
  const candidates = answer + usage.audioOutput + usage.imageOutput;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    ...(usage.reasoning > 0 ? { thoughtsTokenCount: usage.reasoning } : {}),
    ...(usage.cacheRead > 0
      ? {
          cachedContentTokenCount: usage.cacheRead,
          cacheTokensDetails: [{ modality: "TEXT", tokenCount: usage.cacheRead }],
        }
      : {}),
    totalTokenCount: prompt + candidates + usage.reasoning,
    ...details("promptTokensDetails", text, usage.audioInput, usage.imageInput),
    ...details("candidatesTokensDetails", answer, usage.audioOutput, usage.imageOutput),
  };
}

/**
 * Searches that an answer was grounded on: of Gemini 3 each different query is one, empty ones are none; of earlier generations all
 * of them together are one. Source: Gemini API docs, "Grounding with Google Search", Pricing.
 */
export function searchesIn(candidates: readonly unknown[], modelVersion: unknown): number {
  const queries = new Set(candidates.flatMap(queriesIn));
  const generation = generationOf(textOf(modelVersion) ?? "");
  return generation !== null && generation < 3 ? Math.min(1, queries.size) : queries.size;
}

function queriesIn(candidate: unknown): readonly string[] {
  const queries = arrayOf(objectOf(objectOf(candidate)["groundingMetadata"])["webSearchQueries"]);
  return queries.filter((query): query is string => typeof query === "string" && query.trim() !== "");
}

interface Split {
  readonly text: number;
  readonly audio: number;
  readonly image: number;
}

function splitInput(
  prompt: number,
  counts: JsonObject,
): Pick<Usage, "inputUncached" | "cacheRead" | "audioInput" | "imageInput"> {
  const cacheRead = Math.min(countOf(counts["cachedContentTokenCount"]) ?? 0, prompt);
  const fresh = prompt - cacheRead;
  const all = modalities(counts["promptTokensDetails"]);
  // The prompt's details include the cached part, which the cache's details tell apart.
  const cached = modalities(counts["cacheTokensDetails"]);
  const audio = Math.min(Math.max(0, all.audio - cached.audio), fresh);
  const image = Math.min(Math.max(0, all.image - cached.image), fresh - audio);
  const toolUse = countOf(counts["toolUsePromptTokenCount"]) ?? 0;
  const tool = modalities(counts["toolUsePromptTokensDetails"]);
  const toolAudio = Math.min(tool.audio, toolUse);
  const toolImage = Math.min(tool.image, toolUse - toolAudio);
  return {
    inputUncached: fresh - audio - image + toolUse - toolAudio - toolImage,
    cacheRead,
    audioInput: audio + toolAudio,
    imageInput: image + toolImage,
  };
}

function splitOutput(candidates: number, reported: unknown): Split {
  const told = modalities(reported);
  const audio = Math.min(told.audio, candidates);
  const image = Math.min(told.image, candidates - audio);
  return { text: candidates - audio - image, audio, image };
}

/** Film and documents have no class of their own: they stay among the rest. */
function modalities(reported: unknown): { readonly audio: number; readonly image: number } {
  let audio = 0;
  let image = 0;
  for (const entry of arrayOf(reported)) {
    const { modality, tokenCount } = objectOf(entry);
    if (modality === "AUDIO") audio += countOf(tokenCount) ?? 0;
    if (modality === "IMAGE") image += countOf(tokenCount) ?? 0;
  }
  return { audio, image };
}

function details(name: string, text: number, audio: number, image: number): JsonObject {
  if (audio + image === 0) return {};
  const rows = [
    { modality: "TEXT", tokenCount: text },
    { modality: "AUDIO", tokenCount: audio },
    { modality: "IMAGE", tokenCount: image },
  ];
  return { [name]: rows.filter((row) => row.tokenCount > 0) };
}
