import { type AttachedFile, isWritten, type Written } from "./conversation.ts";
import type { ToolCall } from "./reply.ts";

/** One message of a conversation, independent of the API. */
export type ChatMessage =
  | { readonly by: "system"; readonly text: string }
  | ({ readonly by: "user" } & Written)
  | { readonly by: "model"; readonly text: string; readonly calls: readonly ToolCall[] }
  /** The result of a tool. */
  | { readonly by: "tool"; readonly id: string; readonly text: string };

/** Reads `messages` of chat completions and of Anthropic's Messages API, which differ in their parts. */
export function messagesInChat(messages: unknown): readonly ChatMessage[] {
  return itemsOf(messages).flatMap((message) => {
    const role = textOf(message, "role");
    const content = member(message, "content");
    if (role === "tool") return [{ by: "tool", id: textOf(message, "tool_call_id"), text: wordsOf(content) }];
    const results = itemsOf(content).flatMap((part): ChatMessage[] =>
      textOf(part, "type") === "tool_result"
        ? [{ by: "tool", id: textOf(part, "tool_use_id"), text: wordsOf(member(part, "content")) }]
        : [],
    );
    const own = messageFrom(role, content, callsOf(message, content));
    return own === null ? results : [...results, own];
  });
}

/** Reads `input` of the Responses API: a text, or a list of messages and other items. */
export function messagesInResponses(input: unknown): readonly ChatMessage[] {
  if (typeof input === "string") return [{ by: "user", text: input, pictures: [], files: [] }];
  return itemsOf(input).flatMap((item, index): readonly ChatMessage[] => {
    const [type, id] = [textOf(item, "type"), textOf(item, "call_id")];
    if (type === "function_call_output") return [{ by: "tool", id, text: wordsOf(member(item, "output")) }];
    if (type === "function_call") {
      const call = { index, id, name: textOf(item, "name"), arguments: textOf(item, "arguments") };
      return [{ by: "model", text: "", calls: [call] }];
    }
    const content = member(item, "content");
    const own = messageFrom(textOf(item, "role"), content, []);
    return own === null ? [] : [own];
  });
}

/** Reads Gemini's `contents`. Its calls have no ids, so their names are used. */
export function messagesInContents(contents: unknown): readonly ChatMessage[] {
  return itemsOf(contents).flatMap((content) => {
    const parts = itemsOf(member(content, "parts"));
    const results = parts.flatMap((part): ChatMessage[] => {
      const response = member(part, "functionResponse");
      const text = JSON.stringify(member(response, "response") ?? {});
      return response === undefined ? [] : [{ by: "tool", id: textOf(response, "name"), text }];
    });
    const calls = parts.flatMap((part, index) => {
      const call = member(part, "functionCall");
      const name = textOf(call, "name");
      return call === undefined
        ? []
        : [{ index, id: name, name, arguments: JSON.stringify(member(call, "args") ?? {}) }];
    });
    const own = messageFrom(textOf(content, "role") || "user", parts, calls);
    return own === null ? results : [...results, own];
  });
}

/** Reads `input` or `steps` of the Interactions API: a text, a content, or a list of contents or steps. */
export function messagesInInteraction(input: unknown): readonly ChatMessage[] {
  if (typeof input === "string") return [{ by: "user", text: input, pictures: [], files: [] }];
  const items = Array.isArray(input) ? itemsOf(input) : [input];
  const isContent = items.every((item) => contentTypes.has(textOf(item, "type")));
  const steps = isContent ? [{ type: "user_input", content: items }] : items;
  return steps.flatMap((step, index): readonly ChatMessage[] => {
    const type = textOf(step, "type");
    switch (type) {
      case "user_input":
      case "model_output": {
        const own = messageFrom(type === "user_input" ? "user" : "model", contentOfStep(member(step, "content")), []);
        return own === null ? [] : [own];
      }
      case "function_call": {
        const [id, name] = [textOf(step, "id"), textOf(step, "name")];
        const call = { index, id, name, arguments: JSON.stringify(member(step, "arguments") ?? {}) };
        return [{ by: "model", text: "", calls: [call] }];
      }
      case "function_result": {
        const result = member(step, "result");
        const text = typeof result === "string" ? result : wordsOf(result) || JSON.stringify(result ?? null);
        return [{ by: "tool", id: textOf(step, "call_id"), text }];
      }
      default:
        return [];
    }
  });
}

const contentTypes: ReadonlySet<string> = new Set(["text", "image", "audio", "document", "video"]);

const contentOfStep = (content: unknown): unknown =>
  typeof content === "string" || Array.isArray(content) || content == null ? content : [content];

/** The text of a content, which may be a string or a list of parts. Reasoning is left out. */
export function wordsOf(content: unknown): string {
  if (typeof content === "string") return content;
  return itemsOf(content)
    .filter((part) => member(part, "thought") !== true)
    .map((part) => textOf(part, "text"))
    .filter((text) => text !== "")
    .join("\n\n");
}

function messageFrom(role: string, content: unknown, calls: readonly ToolCall[]): ChatMessage | null {
  const text = wordsOf(content);
  if (role === "system" || role === "developer") return { by: "system", text };
  if (role === "assistant" || role === "model") return { by: "model", text, calls };
  const written = { text, pictures: picturesOf(content), files: filesOf(content) };
  return isWritten(written) ? { by: "user", ...written } : null;
}

/** Files that are named by id. Their names are not in the body. */
function filesOf(content: unknown): readonly AttachedFile[] {
  return itemsOf(content).flatMap((part) => {
    const id =
      textOf(member(part, "file"), "file_id") ||
      textOf(part, "file_id") ||
      textOf(member(part, "source"), "file_id") ||
      textOf(member(part, "fileData"), "fileUri") ||
      (isPictureUrl(textOf(part, "uri")) && textOf(part, "type") === "image" ? "" : textOf(part, "uri"));
    return id === "" ? [] : [{ id, name: id }];
  });
}

function picturesOf(content: unknown): readonly string[] {
  return itemsOf(content).flatMap((part) => {
    const source = member(part, "source");
    const inline = member(part, "inlineData");
    const address =
      textOf(member(part, "image_url"), "url") ||
      textOf(part, "image_url") ||
      textOf(source, "url") ||
      dataUrl(textOf(source, "media_type"), textOf(source, "data")) ||
      dataUrl(textOf(inline, "mimeType"), textOf(inline, "data")) ||
      dataUrl(textOf(part, "mime_type"), textOf(part, "data")) ||
      (textOf(part, "type") === "image" ? textOf(part, "uri") : "");
    return isPictureUrl(address) ? [address] : [];
  });
}

const isPictureUrl = (address: string): boolean =>
  /^(?:https?:|data:image\/)/.test(address) && !/\/files\/[^/]+$/.test(address);

const dataUrl = (type: string, data: string): string => (data === "" ? "" : `data:${type};base64,${data}`);

function callsOf(message: unknown, content: unknown): readonly ToolCall[] {
  const named = itemsOf(member(message, "tool_calls")).map((call, index) => {
    const called = member(call, "function");
    return { index, id: textOf(call, "id"), name: textOf(called, "name"), arguments: textOf(called, "arguments") };
  });
  const blocks = itemsOf(content).flatMap((part, index) =>
    textOf(part, "type") === "tool_use"
      ? [
          {
            index,
            id: textOf(part, "id"),
            name: textOf(part, "name"),
            arguments: JSON.stringify(member(part, "input")),
          },
        ]
      : [],
  );
  return [...named, ...blocks];
}

export function member(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? Reflect.get(value, name) : undefined;
}

export function textOf(value: unknown, name: string): string {
  const text = member(value, name);
  return typeof text === "string" ? text : "";
}

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
