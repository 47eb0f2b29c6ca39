import { stringOf } from "./json-body.ts";
import type { Script } from "./script.ts";
import { splitMark, splitModel } from "./script-source.ts";
import { countWords } from "./words.ts";

/** The model and the prompt of a task, without the scripts that stand in them. */
export interface ParsedTask {
  readonly model: string;
  readonly prompt: string;
  readonly promptTokens: number;
  readonly script: Script;
}

export function readTask(model: unknown, prompt: unknown): ParsedTask {
  const named = splitModel(stringOf(model));
  const marked = splitMark(stringOf(prompt));
  const script = { ...named.script, ...marked.script };
  return { model: named.model, prompt: marked.text, promptTokens: countWords(marked.text), script };
}
