import {
  type ChatMessage,
  messagesInChat,
  messagesInInteraction,
  messagesInResponses,
} from "../../playground/chat/read-messages.ts";
import { noReply, type Reply, type ToolCall, withChunk } from "../../playground/chat/reply.ts";
import { eventsOf } from "./captured-events.ts";
import { jsonOf, jsonOfStart } from "./json-text.ts";

/** The assembled content of a stream. */
export interface AssembledAnswer extends Reply {
  /** The message of an error event. */
  readonly error: string | null;
  /** false: the stream breaks off before its last event. */
  readonly whole: boolean;
}

const nothing: AssembledAnswer = { ...noReply, error: null, whole: false };

/**
 * Assembles the response of a captured stream from its events: chat completions, completions, messages, responses, Gemini's chunks and interactions.
 * The dialect is detected from each event, not from the endpoint. null: not a stream, or not a stream of text.
 */
export function assembledAnswer(text: string): AssembledAnswer | null {
  const captured = eventsOf(text);
  if (captured === null) return null;
  const withReaders = captured.events.map((event) => [event, readerOf(event)] as const);
  if (withReaders.every(([, reader]) => reader === null)) return null;
  const answer = withReaders.reduce((before, [event, read]) => read?.(before, event) ?? before, nothing);
  return { ...answer, whole: answer.whole || captured.done };
}

/** The answer in a captured body: an assembled stream, or one JSON value. null: neither is an answer with text. */
export function answerInBody(text: string): AssembledAnswer | null {
  return assembledAnswer(text) ?? wholeAnswer(jsonOf(text) ?? jsonOfStart(text));
}

function wholeAnswer(body: unknown): AssembledAnswer | null {
  const error = sentenceIn(body);
  if (error !== "") return { ...nothing, error, whole: true };
  const choice = itemsOf(member(body, "choices"))[0];
  if (choice !== undefined) {
    const message = member(choice, "message");
    const thinking = textOf(message, "reasoning_content") || textOf(message, "reasoning");
    const answer = answerOf(
      messagesInChat([{ role: "assistant", content: textOf(choice, "text"), ...asObject(message) }]),
    );
    return {
      ...answer,
      text: answer.text + textOf(message, "refusal"),
      thinking,
      finish: finishOf(choice, "finish_reason"),
    };
  }
  if (member(body, "candidates") !== undefined) return { ...withCandidate(nothing, body), whole: true };
  if (Array.isArray(member(body, "output"))) {
    const items = itemsOf(member(body, "output"));
    const summaries = items.flatMap((item) =>
      textOf(item, "type") === "reasoning" ? itemsOf(member(item, "summary")) : [],
    );
    const thinking = summaries.map((part) => textOf(part, "text")).join("\n\n");
    return { ...answerOf(messagesInResponses(items)), thinking, finish: finishOf(body, "status") };
  }
  if (Array.isArray(member(body, "steps"))) {
    const steps = itemsOf(member(body, "steps"));
    const thoughts = steps.flatMap((step) =>
      textOf(step, "type") === "thought" ? itemsOf(member(step, "summary")) : [],
    );
    const thinking = thoughts.map((part) => textOf(part, "text")).join("\n\n");
    return { ...answerOf(messagesInInteraction(steps)), thinking, finish: finishOf(body, "status") };
  }
  const content = member(body, "content");
  if (textOf(body, "type") !== "message" || !Array.isArray(content)) return null;
  const thinking = content.map((part) => textOf(part, "thinking")).join("");
  return {
    ...answerOf(messagesInChat([{ role: "assistant", content }])),
    thinking,
    finish: finishOf(body, "stop_reason"),
  };
}

function answerOf(messages: readonly ChatMessage[]): AssembledAnswer {
  const own = messages.flatMap((message) => (message.by === "model" ? [message] : []));
  return {
    ...nothing,
    text: own
      .map((message) => message.text)
      .filter((text) => text !== "")
      .join("\n\n"),
    toolCalls: own.flatMap((message) => message.calls),
    whole: true,
  };
}

function finishOf(value: unknown, name: string): string | null {
  return textOf(value, name) || null;
}

function asObject(value: unknown): object {
  return value !== null && typeof value === "object" ? value : {};
}

type Reader = (answer: AssembledAnswer, event: unknown) => AssembledAnswer;

function readerOf(event: unknown): Reader | null {
  if (sentenceIn(event) !== "") return withError;
  if (/^(?:interaction|step)\./.test(textOf(event, "event_type"))) return withInteractionEvent;
  const type = textOf(event, "type");
  if (type.startsWith("response.")) return withResponseEvent;
  if (/^(?:message|content_block)_|^ping$/.test(type)) return withMessageEvent;
  if (member(event, "choices") !== undefined) return withChoice;
  return member(event, "candidates") === undefined ? null : withCandidate;
}

function withError(answer: AssembledAnswer, event: unknown): AssembledAnswer {
  return { ...answer, error: sentenceIn(event), whole: true };
}

function sentenceIn(event: unknown): string {
  return (
    textOf(member(event, "error"), "message") || (textOf(event, "type") === "error" ? textOf(event, "message") : "")
  );
}

/** OpenAI's chat and its older completions. */
function withChoice(answer: AssembledAnswer, event: unknown): AssembledAnswer {
  const choice = itemsOf(member(event, "choices"))[0];
  const reply = withChunk(answer, event);
  return { ...answer, ...reply, text: reply.text + textOf(choice, "text") };
}

/** https://docs.anthropic.com/en/api/messages-streaming */
function withMessageEvent(answer: AssembledAnswer, event: unknown): AssembledAnswer {
  const delta = member(event, "delta");
  const index = numberOf(event, "index");
  switch (textOf(event, "type")) {
    case "content_block_start": {
      const block = member(event, "content_block");
      const isTool = /tool_use$/.test(textOf(block, "type"));
      const begun = { ...answer, text: answer.text + textOf(block, "text") };
      return isTool ? withTool(begun, index, { id: textOf(block, "id"), name: textOf(block, "name") }) : begun;
    }
    case "content_block_delta":
      return {
        ...withTool(answer, index, { more: textOf(delta, "partial_json") }),
        text: answer.text + textOf(delta, "text"),
        thinking: answer.thinking + textOf(delta, "thinking"),
      };
    case "message_delta":
      return { ...answer, finish: textOf(delta, "stop_reason") || answer.finish };
    case "message_stop":
      return { ...answer, whole: true };
    default:
      return answer;
  }
}

/** https://platform.openai.com/docs/api-reference/responses-streaming */
function withResponseEvent(answer: AssembledAnswer, event: unknown): AssembledAnswer {
  const delta = textOf(event, "delta");
  const index = numberOf(event, "output_index");
  switch (textOf(event, "type")) {
    case "response.output_text.delta":
    case "response.refusal.delta":
      return { ...answer, text: answer.text + delta };
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return { ...answer, thinking: answer.thinking + delta };
    case "response.output_item.added": {
      const item = member(event, "item");
      const isCall = /^(?:function|custom_tool)_call$/.test(textOf(item, "type"));
      return isCall ? withTool(answer, index, { id: textOf(item, "call_id"), name: textOf(item, "name") }) : answer;
    }
    case "response.function_call_arguments.delta":
    case "response.custom_tool_call_input.delta":
      return withTool(answer, index, { more: delta });
    case "response.completed":
    case "response.incomplete":
    case "response.failed": {
      const response = member(event, "response");
      const error = textOf(member(response, "error"), "message");
      return {
        ...answer,
        finish: textOf(response, "status") || answer.finish,
        error: error || answer.error,
        whole: true,
      };
    }
    default:
      return answer;
  }
}

/** https://ai.google.dev/gemini-api/docs/interactions: steps, and pieces of them. */
function withInteractionEvent(answer: AssembledAnswer, event: unknown): AssembledAnswer {
  const index = numberOf(event, "index");
  switch (textOf(event, "event_type")) {
    case "step.start": {
      const step = member(event, "step");
      if (textOf(step, "type") !== "function_call") return withStep(answer, step);
      const whole = member(step, "arguments");
      const more = whole === undefined || Object.keys(asObject(whole)).length === 0 ? "" : JSON.stringify(whole);
      return withTool(answer, index, { id: textOf(step, "id"), name: textOf(step, "name"), more });
    }
    case "step.delta": {
      const delta = member(event, "delta");
      const thought = textOf(delta, "type") === "thought_summary" ? textOf(member(delta, "content"), "text") : "";
      const text = textOf(delta, "type") === "text" ? textOf(delta, "text") : "";
      return {
        ...withTool(answer, index, { more: textOf(delta, "arguments") }),
        text: answer.text + text,
        thinking: answer.thinking + thought,
      };
    }
    case "interaction.completed":
      return { ...answer, finish: textOf(member(event, "interaction"), "status") || answer.finish, whole: true };
    default:
      return answer;
  }
}

/** A step may start with its first content. */
function withStep(answer: AssembledAnswer, step: unknown): AssembledAnswer {
  const textIn = (parts: unknown) =>
    itemsOf(parts)
      .map((part) => textOf(part, "text"))
      .join("");
  if (textOf(step, "type") === "model_output")
    return { ...answer, text: answer.text + textIn(member(step, "content")) };
  if (textOf(step, "type") !== "thought") return answer;
  return { ...answer, thinking: answer.thinking + textIn(member(step, "summary")) };
}

/** https://ai.google.dev/api/generate-content: parts of text, thoughts among them, and whole calls of functions. */
function withCandidate(answer: AssembledAnswer, event: unknown): AssembledAnswer {
  const candidate = itemsOf(member(event, "candidates"))[0];
  const finish = textOf(candidate, "finishReason");
  const ended = finish === "" ? answer : { ...answer, finish, whole: true };
  return itemsOf(member(member(candidate, "content"), "parts")).reduce<AssembledAnswer>(withPart, ended);
}

function withPart(answer: AssembledAnswer, part: unknown): AssembledAnswer {
  const call = member(part, "functionCall");
  if (call !== undefined) {
    const more = JSON.stringify(member(call, "args") ?? {});
    return withTool(answer, answer.toolCalls.length, { id: textOf(call, "id"), name: textOf(call, "name"), more });
  }
  const text = textOf(part, "text");
  return member(part, "thought") === true
    ? { ...answer, thinking: answer.thinking + text }
    : { ...answer, text: answer.text + text };
}

interface ToolPiece {
  readonly id?: string;
  readonly name?: string;
  readonly more?: string;
}

/** A call is identified by its block index; arguments of other blocks are ignored. */
function withTool(answer: AssembledAnswer, index: number, { id, name, more = "" }: ToolPiece): AssembledAnswer {
  const { toolCalls } = answer;
  if (name !== undefined) {
    const begun: ToolCall = { index, id: id ?? "", name, arguments: more };
    return { ...answer, toolCalls: [...toolCalls, begun] };
  }
  if (more === "") return answer;
  const longer = (call: ToolCall) => (call.index === index ? { ...call, arguments: call.arguments + more } : call);
  return { ...answer, toolCalls: toolCalls.map(longer) };
}

function member(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? Reflect.get(value, name) : undefined;
}

function textOf(value: unknown, name: string): string {
  const text = member(value, name);
  return typeof text === "string" ? text : "";
}

function numberOf(value: unknown, name: string): number {
  const number = member(value, name);
  return typeof number === "number" ? number : 0;
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
