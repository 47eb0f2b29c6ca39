import { requestFields } from "@sluice/contract/words";
import type { Answer, AnswerEvent, Finish, Usage } from "#core/index.ts";
import type { AnswerContext, EventWriter } from "../codec.ts";
import type { RequestFacts, Wire } from "../dialect.ts";
import { jsonBytes } from "../json/value.ts";
import { renderChatStreamError } from "../openai-chat/dialect.ts";
import { readChatReply } from "../openai-chat/reply.ts";
import { chatEdits, readStreamFacts } from "../openai-chat/request.ts";
import { ChatStreamTap } from "../openai-chat/stream.ts";
import { writeChatUsage } from "../openai-chat/usage.ts";
import { BodyReader } from "../request/request-body.ts";
import { estimatePrompt } from "./json-calls.ts";

const bodies = new BodyReader(requestFields.completions, [
  ...["suffix", "stream_options", "max_tokens", "prompt_cache_key", "user"],
]);

/** Source: OpenAI API reference, "Create completion". */
function readCompletionsRequest(bytes: Uint8Array): RequestFacts {
  const body = bodies.read(bytes);
  const { tokens, texts } = estimatePrompt(bytes, body.get("prompt"));
  const facts = body.facts(tokens + body.estimate("suffix"));
  readStreamFacts(body, facts);
  const cap = body.count("max_tokens");
  // Each prompt of a list gets its own answer.
  const choices = (body.count("n") ?? 1) * texts;
  if (cap !== null) facts.outputTokensMax = cap * choices;
  if (choices > 1) facts.choices = choices;
  facts.affinity = body.label("prompt_cache_key") ?? facts.affinity;
  return facts;
}

/** Streams and usage are those of chat completions, with the output in `text`. */
export const completionsWire: Wire = {
  readRequest: readCompletionsRequest,
  requestEdits: chatEdits,
  smallestRequest: (model) => ({ model, prompt: "ok", max_tokens: 1 }),
  readReply: readChatReply,
  tapStream: (hideUsage, convention) => new ChatStreamTap(hideUsage, convention, textMarks),
};

const textMarks = [Buffer.from('"text":', "latin1")];

type CompletionContext = Pick<AnswerContext, "model" | "createdAt" | "wantsUsage" | "newId">;

export function writeCompletion(answer: Answer, context: CompletionContext): Uint8Array {
  const text = answer.blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("");
  const completion = {
    ...opening(answer, context),
    choices: [choice(text, finishOf(answer.finish))],
    ...(answer.usage === null ? {} : { usage: writeChatUsage(answer.usage) }),
  };
  return jsonBytes(completion);
}

export class CompletionEventWriter implements EventWriter {
  readonly #context: CompletionContext;
  #opening: object = {};
  #usage: Usage | null = null;
  #isText = false;

  constructor(context: CompletionContext) {
    this.#context = context;
  }

  write(event: AnswerEvent): string {
    switch (event.kind) {
      case "start":
        this.#opening = opening(event, this.#context);
        return "";
      case "block-start":
        this.#isText = event.block.kind === "text";
        return "";
      case "block-delta":
        return this.#isText ? this.#chunk([choice(event.text, null)]) : "";
      case "usage":
        this.#usage = event.usage;
        return "";
      case "finish":
        return this.#chunk([choice("", finishOf(event.finish))]);
      case "error":
        return renderChatStreamError(event.failure);
      case "end":
        return `${this.#usageChunk()}data: [DONE]\n\n`;
      default:
        return "";
    }
  }

  #usageChunk(): string {
    if (!this.#context.wantsUsage || this.#usage === null) return "";
    return this.#chunk([], { usage: writeChatUsage(this.#usage) });
  }

  #chunk(choices: readonly object[], more: object = this.#context.wantsUsage ? { usage: null } : {}): string {
    return `data: ${JSON.stringify({ ...this.#opening, choices, ...more })}\n\n`;
  }
}

function opening({ id, model }: Pick<Answer, "id" | "model">, context: CompletionContext): object {
  return {
    id: id ?? context.newId("cmpl-"),
    object: "text_completion",
    created: context.createdAt,
    model: model ?? context.model,
  };
}

function choice(text: string, finish: string | null): object {
  return { text, index: 0, logprobs: null, finish_reason: finish };
}

function finishOf({ reason }: Finish): string {
  if (reason === "length" || reason === "context-length") return "length";
  return reason === "content-filter" || reason === "refusal" ? "content_filter" : "stop";
}
