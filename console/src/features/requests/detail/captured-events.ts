import { jsonOf } from "./json-text.ts";

export interface CapturedEvents {
  /** The JSON of each event, in order; invalid ones are left out. */
  readonly events: readonly unknown[];
  /** The final event was captured, or the protocol has none. */
  readonly done: boolean;
}

/** The events of a captured stream: server-sent ones, or Gemini's list of chunks. null: the text is no stream. */
export function eventsOf(text: string): CapturedEvents | null {
  const list = jsonOf(text);
  if (Array.isArray(list)) return list.some(isChunk) ? { events: list, done: true } : null;
  if (!/^(?:data|event|id|retry)?:/m.test(text) || list !== undefined) return null;
  const data = text.split(/\r?\n\r?\n/).flatMap(dataOf);
  if (data.length === 0) return null;
  const events = data.map(jsonOf).filter((event) => event !== undefined);
  return { events, done: data.includes("[DONE]") };
}

function dataOf(event: string): readonly string[] {
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
  return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).trimStart()).join("\n")];
}

function isChunk(value: unknown): boolean {
  return value !== null && typeof value === "object" && "candidates" in value;
}
