import { requestFields } from "@sluice/contract/words";
import type { Answer, BlockHead, Failure, Finish } from "#core/index.ts";
import type { AnswerContext } from "../codec.ts";
import type { RequestFacts, Wire } from "../dialect.ts";
import { jsonBytes } from "../json/value.ts";
import { renderChatStreamError } from "../openai-chat/dialect.ts";
import { readChatReply } from "../openai-chat/reply.ts";
import { chatEdits, readStreamFacts } from "../openai-chat/request.ts";
import { ChatStreamTap } from "../openai-chat/stream.ts";
import { writeChatUsage } from "../openai-chat/usage.ts";
import { BodyReader } from "../request/request-body.ts";
import { AnswerWriter } from "../turn/answer-writer.ts";
import { textsIn } from "../turn/parts.ts";
import { countPrompts, estimatePrompt } from "./json-calls.ts";

const bodies = new BodyReader(requestFields.completions, [
  ...["suffix", "stream_options", "max_tokens", "prompt_cache_key", "user"],
]);

/** Source: OpenAI API reference, "Create completion". */
function readCompletionsRequest(bytes: Uint8Array): RequestFacts {
  const body = bodies.read(bytes);
  const prompt = body.get("prompt");
  const facts = body.facts(estimatePrompt(bytes, prompt) + body.estimate("suffix"));
  readStreamFacts(body, facts);
  const cap = body.count("max_tokens");
  // Each prompt of a list gets its own answer.
  const choices = (body.count("n") ?? 1) * countPrompts(bytes, prompt);
  if (cap !== null) facts.outputTokensMax = cap * choices;
  if (choices > 1) facts.choices = choices;
  facts.affinity = body.label("prompt_cache_key") ?? facts.affinity;
  return facts;
}

/** Streams and usage as in chat completions, with the output in `text`. */
export const completionsWire: Wire = {
  readRequest: readCompletionsRequest,
  requestEdits: chatEdits,
  smallestRequest: (model) => ({ model, prompt: "ok", max_tokens: 1 }),
  readReply: readChatReply,
  tapStream: (hideUsage, convention) => new ChatStreamTap(hideUsage, convention, textMarks),
};

const textMarks = [Buffer.from('"text":', "latin1")];

type CompletionContext = Pick<AnswerContext, "model" | "createdAt" | "wantsUsage" | "newId" | "warn">;

export function writeCompletion(answer: Answer, context: CompletionContext): Uint8Array {
  const text = textsIn(answer.blocks).join("");
  const completion = {
    ...opening(answer, context),
    choices: [choice(text, finishOf(answer.finish))],
    ...(answer.usage === null ? {} : { usage: writeChatUsage(answer.usage) }),
  };
  return jsonBytes(completion);
}

export class CompletionEventWriter extends AnswerWriter<CompletionContext> {
  #opening: object = {};
  #isText = false;

  protected start(id: string | null, model: string | null): string {
    this.#opening = opening({ id, model }, this.context);
    return "";
  }

  protected startBlock({ kind }: BlockHead): string {
    this.#isText = kind === "text";
    return "";
  }

  protected delta(text: string): string {
    return this.#isText ? this.#chunk([choice(text, null)]) : "";
  }

  protected override writeFinish(finish: Finish): string {
    return this.#chunk([choice("", finishOf(finish))]);
  }

  protected override fail(failure: Failure): string {
    return renderChatStreamError(failure);
  }

  protected end(): string {
    const { usage } = this;
    const chunk = this.context.wantsUsage && usage !== null ? this.#chunk([], { usage: writeChatUsage(usage) }) : "";
    return `${chunk}data: [DONE]\n\n`;
  }

  #chunk(choices: readonly object[], more: object = this.context.wantsUsage ? { usage: null } : {}): string {
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
