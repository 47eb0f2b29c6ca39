import { noUsage, type Usage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { arrayOf, countOf, type JsonObject, objectOf } from "../json/value.ts";
import { missingSideOf } from "../usage/read-served.ts";
import { compareTotal, maxToolUse, noServerTools, rawUsage, type ServerToolUse, usesTools } from "../usage/reading.ts";

/**
 * Splits an interaction's usage into classes. Cached tokens are part of the input. Whether thoughts and the input of tools are part of
 * output and input is not documented: the total decides, and without one they come on top. Null without any count or tool use.
 */
export function readInteractionUsage(reported: unknown, counted: ServerToolUse = noServerTools): UsageReading | null {
  const counts = objectOf(reported);
  const input = countOf(counts["total_input_tokens"]);
  const output = countOf(counts["total_output_tokens"]);
  const total = countOf(counts["total_tokens"]);
  const tools = maxToolUse(groundingUse(counts["grounding_tool_count"]), counted);
  if (input === null && output === null && total === null && !usesTools(tools)) return null;
  const thoughts = countOf(counts["total_thought_tokens"]) ?? 0;
  const toolUse = countOf(counts["total_tool_use_tokens"]) ?? 0;
  const excess = total === null ? 0 : (input ?? 0) + (output ?? 0) + thoughts + toolUse - total;
  const includesThoughts = excess > 0 && (excess === thoughts || excess === thoughts + toolUse);
  const includesTools = excess > 0 && (excess === toolUse || excess === thoughts + toolUse);
  const toolsBeside = includesTools ? 0 : toolUse;
  const answer = Math.max(0, (output ?? 0) - (includesThoughts ? thoughts : 0));
  const { beyond, unexplained } = compareTotal(total, [input, toolsBeside, answer, thoughts]);
  const made = modalities(counts["output_tokens_by_modality"]);
  const audioOutput = Math.min(made.audio, answer);
  const imageOutput = Math.min(made.image, answer - audioOutput);
  return {
    usage: {
      ...noUsage,
      ...splitInput(input ?? 0, toolsBeside, counts),
      output: answer - audioOutput - imageOutput + thoughts + beyond,
      reasoning: thoughts,
      audioOutput,
      imageOutput,
      ...tools,
      unexplained,
    },
    raw: rawUsage(counts),
    missingSide: missingSideOf(input, output),
  };
}

/** Cache writes count as ordinary input. */
export function writeInteractionUsage(usage: Usage): JsonObject {
  const text = usage.inputUncached + usage.cacheWrite5m + usage.cacheWrite1h + usage.cacheRead;
  const audio = usage.audioInput + usage.cacheReadAudio;
  const input = text + audio + usage.imageInput;
  const thoughts = usage.reasoning + usage.separateReasoning;
  const answer = Math.max(0, usage.output - usage.reasoning);
  const output = answer + usage.audioOutput + usage.imageOutput;
  return {
    total_input_tokens: input,
    input_tokens_by_modality: rows(text, audio, usage.imageInput),
    total_cached_tokens: usage.cacheRead + usage.cacheReadAudio,
    cached_tokens_by_modality: rows(usage.cacheRead, usage.cacheReadAudio, 0),
    total_output_tokens: output,
    output_tokens_by_modality: rows(answer, usage.audioOutput, usage.imageOutput),
    total_thought_tokens: thoughts,
    total_tool_use_tokens: 0,
    total_tokens: input + output + thoughts,
  };
}

function groundingUse(reported: unknown): ServerToolUse {
  const use = { ...noServerTools };
  for (const entry of arrayOf(reported)) {
    const { type, count } = objectOf(entry);
    if (type === "google_search") use.webSearches += countOf(count) ?? 0;
    else if (type === "google_maps") use.mapSearches += countOf(count) ?? 0;
    else if (type === "retrieval" || type === "file_search") use.fileSearches += countOf(count) ?? 0;
  }
  return use;
}

function splitInput(input: number, toolUse: number, counts: JsonObject) {
  const fromCache = Math.min(countOf(counts["total_cached_tokens"]) ?? 0, input);
  const fresh = input - fromCache;
  const all = modalities(counts["input_tokens_by_modality"]);
  // The rows of the input include the cached part.
  const cached = modalities(counts["cached_tokens_by_modality"]);
  const cacheReadAudio = Math.min(cached.audio, fromCache);
  const audio = Math.min(Math.max(0, all.audio - cached.audio), fresh);
  const image = Math.min(Math.max(0, all.image - cached.image), fresh - audio);
  const tool = modalities(counts["tool_use_tokens_by_modality"]);
  const toolAudio = Math.min(tool.audio, toolUse);
  const toolImage = Math.min(tool.image, toolUse - toolAudio);
  return {
    inputUncached: fresh - audio - image + toolUse - toolAudio - toolImage,
    cacheRead: fromCache - cacheReadAudio,
    cacheReadAudio,
    audioInput: audio + toolAudio,
    imageInput: image + toolImage,
  };
}

/** Video and documents count as text. */
function modalities(reported: unknown): { readonly audio: number; readonly image: number } {
  let audio = 0;
  let image = 0;
  for (const entry of arrayOf(reported)) {
    const { modality, tokens } = objectOf(entry);
    if (modality === "audio") audio += countOf(tokens) ?? 0;
    if (modality === "image") image += countOf(tokens) ?? 0;
  }
  return { audio, image };
}

function rows(text: number, audio: number, image: number): readonly object[] {
  const tokens = Object.entries({ text, audio, image }).filter(([, count]) => count > 0);
  return tokens.map(([modality, count]) => ({ modality, tokens: count }));
}
