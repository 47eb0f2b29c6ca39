import { stringOf } from "./json-body.ts";
import type { Script } from "./script.ts";
import { splitMarker, splitModel } from "./script-source.ts";
import { countWords } from "./words.ts";

/** The model and prompt of a task, without the scripts inside them. */
export interface ParsedTask {
  readonly model: string;
  readonly prompt: string;
  readonly promptTokens: number;
  readonly script: Script;
}

export function readTask(model: unknown, prompt: unknown): ParsedTask {
  const modelParts = splitModel(stringOf(model));
  const promptParts = splitMarker(stringOf(prompt));
  const script = { ...modelParts.script, ...promptParts.script };
  return { model: modelParts.model, prompt: promptParts.text, promptTokens: countWords(promptParts.text), script };
}
