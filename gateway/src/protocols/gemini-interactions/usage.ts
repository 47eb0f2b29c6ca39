import { noUsage, type Usage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { modalitiesIn, splitInput, splitTokens } from "../gemini/modalities.ts";
import { arrayOf, countOf, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { missingSideOf } from "../usage/read-served.ts";
import { compareTotal, maxToolUse, noServerTools, rawUsage, type ServerToolUse, usesTools } from "../usage/reading.ts";
import { countTool } from "./steps.ts";

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
  const modalities = (name: string) => modalitiesIn(counts[name], "tokens");
  const made = splitTokens(answer, modalities("output_tokens_by_modality"));
  const cached = countOf(counts["total_cached_tokens"]) ?? 0;
  return {
    usage: {
      ...noUsage,
      ...splitInput(
        { input: input ?? 0, cached, toolUse: toolsBeside },
        {
          input: modalities("input_tokens_by_modality"),
          cached: modalities("cached_tokens_by_modality"),
          toolUse: modalities("tool_use_tokens_by_modality"),
        },
      ),
      output: made.text + thoughts + beyond,
      reasoning: thoughts,
      audioOutput: made.audio,
      imageOutput: made.image,
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
    countTool(use, `${textOf(type)}_call`, countOf(count) ?? 0);
  }
  return use;
}

function rows(text: number, audio: number, image: number): readonly object[] {
  const tokens = Object.entries({ text, audio, image }).filter(([, count]) => count > 0);
  return tokens.map(([modality, count]) => ({ modality, tokens: count }));
}
