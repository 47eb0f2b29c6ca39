import { bounds, tokensOf } from "#core/index.ts";
import type { OtherUsage } from "../dialect.ts";
import type { Span } from "../json/cursor.ts";
import { skimArray, skimObject, skimValue } from "../json/skim.ts";
import { countOf, isObject, objectOf, textOf } from "../json/value.ts";
import { imagesUsage } from "../openai-images/usage.ts";

/** What an answer says of its pictures, beside what they used. */
export interface Drawing {
  readonly pictures: number;
  /** The upstream's name of the model that made them; empty where it is not told. */
  readonly model: string;
}

/**
 * What the model behind the tool that makes pictures used: "usage reported by hosted tools, separate from base model `usage`"
 * (OpenAI's SDK, Response.tool_usage). Empty where no token is told.
 */
export function drawnBy(toolUsage: unknown, { pictures, model }: Drawing = nothingDrawn): readonly OtherUsage[] {
  const told = objectOf(toolUsage)["image_gen"];
  if (!isObject(told)) return [];
  const used = imagesUsage(told, null, pictures).usage;
  if (tokensOf(used) === 0) return [];
  const cached = countOf(told["cached_tokens"]) ?? 0;
  const image = Math.min(countOf(objectOf(told["cached_tokens_details"])["cached_image_tokens"]) ?? 0, used.imageInput);
  const text = Math.min(Math.max(0, cached - image), used.inputUncached);
  const usage = {
    ...used,
    inputUncached: used.inputUncached - text,
    imageInput: used.imageInput - image,
    cacheRead: text + image,
  };
  return [{ model, usage }];
}

/** The model that a response's `tools` name for making pictures. */
export function drawingModel(bytes: Uint8Array, tools: Span | undefined): string {
  if (tools === undefined) return "";
  for (const { start, end } of skimArray(bytes, tools, bounds.jsonValuesMax) ?? []) {
    const members = skimObject(bytes, start, end, ofTool);
    if (textOf(skimValue(bytes, members?.get("type"))) !== "image_generation") continue;
    return textOf(skimValue(bytes, members?.get("model"))) ?? "";
  }
  return "";
}

const ofTool: ReadonlySet<string> = new Set(["type", "model"]);
const nothingDrawn: Drawing = { pictures: 0, model: "" };
