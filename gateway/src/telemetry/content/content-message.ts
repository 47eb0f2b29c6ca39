/** A piece of a message, by the conventions' JSON schemas of messages (semantic-conventions-genai, model/gen-ai). */
export interface Part {
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
  readonly finish_reason?: string;
}

/** What was asked, and what came back. */
export interface Asked {
  /** Instructions that stand apart from the messages; those among the messages stay there. */
  readonly system: readonly Part[];
  readonly input: readonly Message[];
}

export type Members = Readonly<Record<string, unknown>>;

/** What callers and upstreams wrote may have any form: what is not as expected counts as not there. */
export function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : none;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

const none: Members = {};

export function textPart(content: string): Part {
  return { type: "text", content };
}

export function reasoningPart(content: string): Part {
  return { type: "reasoning", content };
}

/** `written`: the arguments as the dialect has them: a text of JSON, or the value itself. */
export function callPart(id: unknown, name: unknown, written: unknown): Part {
  return { type: "tool_call", id: textOf(id), name: textOf(name) ?? "", arguments: argumentsOf(written) };
}

export function resultPart(id: unknown, response: unknown): Part {
  return { type: "tool_call_response", id: textOf(id), response };
}

/** Bytes are never sent on: of a file that stood in the message its kind is told. */
export function blobPart(modality: string, mimeType: string | null): Part {
  return { type: "blob", modality, mime_type: mimeType, content: "" };
}

export function filePart(modality: string, fileId: string): Part {
  return { type: "file", modality, file_id: fileId };
}

/** By its address, or by its kind where the address holds the bytes. */
export function mediaPart(modality: string, address: unknown): Part {
  const url = textOf(address) ?? "";
  const data = /^data:([^;,]*)/i.exec(url);
  if (data !== null) return blobPart(modality, data[1] === "" ? null : (data[1] ?? null));
  return { type: "uri", modality, uri: url };
}

/** A member of another kind than the conventions have one for: its kind alone. */
export function otherPart(type: unknown): Part {
  return { type: textOf(type) ?? "unknown" };
}

function argumentsOf(written: unknown): unknown {
  if (typeof written !== "string") return written;
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
}
