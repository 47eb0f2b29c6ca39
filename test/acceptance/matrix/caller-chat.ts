import OpenAI from "openai";
import OpenAIPrevious from "openai-previous";
import type { Ask, Caller, Heard, HeardCall, HeardUsage, Said, ToolChoice } from "./ask.ts";
import type { GatewayAccess } from "./gateway-access.ts";
import { createTape, type Tape } from "./tape.ts";

type ChatParams = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam;
type Completion = OpenAI.Chat.ChatCompletion;

/** Chat completions of the official `openai` package, this major version or the one before. */
export function chatCaller(access: GatewayAccess, version: "latest" | "previous"): Caller {
  const client = (tape: Tape): OpenAI => openAiClient(access, version, tape);
  return {
    name: version === "latest" ? "openai chat" : "openai-previous chat",
    dialect: "chat",
    async whole(ask) {
      const tape = createTape(access.onExchange);
      const completion = await client(tape).chat.completions.create(paramsOf(ask));
      return heardOf(completion, tape, [], "");
    },
    async stream(ask) {
      const tape = createTape(access.onExchange);
      const params = { ...paramsOf(ask), stream: true as const, stream_options: { include_usage: true } };
      const stream = client(tape).chat.completions.stream(params);
      const pieces: string[] = [];
      let thinking = "";
      for await (const chunk of stream) {
        const delta = chunk.choices[0]?.delta;
        if (typeof delta?.content === "string" && delta.content !== "") pieces.push(delta.content);
        thinking += thoughtsIn(delta);
      }
      return heardOf(await stream.finalChatCompletion(), tape, pieces, thinking);
    },
    errorOf: openAiErrorOf,
  };
}

export function openAiClient(access: GatewayAccess, version: "latest" | "previous", tape: Tape): OpenAI {
  const options = { baseURL: `${access.url}/v1`, apiKey: access.key, maxRetries: 0, fetch: tape.fetch };
  if (version === "latest") return new OpenAI(options);
  // The two majors differ in types alone as far as these calls go.
  return new OpenAIPrevious(options) as unknown as OpenAI;
}

export function openAiErrorOf(thrown: unknown): ReturnType<Caller["errorOf"]> {
  const own = thrown instanceof OpenAI.APIError || thrown instanceof OpenAIPrevious.APIError;
  return own ? { status: thrown.status, kind: thrown.constructor.name, said: thrown.message } : null;
}

function paramsOf(ask: Ask): ChatParams {
  const { model, system, turns, tools, thinks, schema, outputMax, toolChoice } = ask;
  const messages: ChatMessage[] = system === undefined ? [] : [{ role: "system", content: system }];
  for (const said of turns) messages.push(...messagesOf(said));
  // Not of OpenAI's own: how other vendors of the dialect are asked to show what was thought.
  const shown = { reasoning_effort: "medium" as const, include_reasoning: true };
  return {
    model,
    messages,
    ...(tools === undefined
      ? {}
      : { tools: tools.map((tool) => ({ type: "function" as const, function: { ...tool } })) }),
    ...(thinks === true ? shown : {}),
    ...(schema === undefined
      ? {}
      : {
          response_format: {
            type: "json_schema",
            json_schema: { name: "answer", schema: { ...schema }, strict: true },
          },
        }),
    ...(outputMax === undefined ? {} : { max_completion_tokens: outputMax }),
    ...(toolChoice === undefined ? {} : { tool_choice: choiceOf(toolChoice) }),
  };
}

function choiceOf(choice: ToolChoice): OpenAI.Chat.ChatCompletionToolChoiceOption {
  if (choice === "none") return "none";
  return choice === "any" ? "required" : { type: "function", function: choice };
}

function messagesOf(said: Said): readonly ChatMessage[] {
  switch (said.by) {
    case "model":
      return [{ role: "assistant", content: said.text }];
    case "echo":
      return said.heard.echo as readonly ChatMessage[];
    case "tools":
      return said.results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text }));
    case "user":
      return [{ role: "user", content: partsOf(said) }];
  }
}

function partsOf(said: Extract<Said, { by: "user" }>): string | OpenAI.Chat.ChatCompletionContentPart[] {
  const parts: OpenAI.Chat.ChatCompletionContentPart[] = [{ type: "text", text: said.text }];
  if (said.imagePng !== undefined) {
    parts.push({ type: "image_url", image_url: { url: `data:image/png;base64,${said.imagePng}`, detail: "low" } });
  }
  if (said.documentPdf !== undefined) {
    const data = `data:application/pdf;base64,${said.documentPdf}`;
    parts.push({ type: "file", file: { filename: "paper.pdf", file_data: data } });
  }
  return parts.length === 1 ? said.text : parts;
}

function heardOf(completion: Completion, tape: Tape, pieces: readonly string[], streamedThinking: string): Heard {
  const choice = completion.choices[0];
  if (choice === undefined) throw new Error("an answer without a choice");
  const { message } = choice;
  const thinking = streamedThinking === "" ? thoughtsIn(message) : streamedThinking;
  const stop = { stop: "stop", length: "length", tool_calls: "tool-calls" }[choice.finish_reason as string];
  return {
    text: message.content ?? "",
    refusal: message.refusal ?? "",
    thinking,
    calls: (message.tool_calls ?? []).map(callOf),
    stop: stop ?? choice.finish_reason,
    usage: () => usageOf(completion),
    // The SDK's accumulator keeps only the last piece of a member it does not know.
    echo: [thinking === "" ? message : { ...message, reasoning_content: thinking }],
    pieces,
    exchange: tape.last(),
  };
}

function callOf(call: OpenAI.Chat.ChatCompletionMessageToolCall): HeardCall {
  if (call.type !== "function") throw new Error("a call that is no function's");
  return { id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) };
}

/** `reasoning_content` or `reasoning`, the two names that vendors gave to what is thought. */
function thoughtsIn(message: object | undefined): string {
  const said = (message ?? {}) as { readonly reasoning_content?: unknown; readonly reasoning?: unknown };
  const thought = said.reasoning_content ?? said.reasoning;
  return typeof thought === "string" ? thought : "";
}

function usageOf({ usage }: Completion): HeardUsage {
  if (usage === undefined) throw new Error("an answer without usage");
  const details = usage.prompt_tokens_details as {
    readonly cached_tokens?: number;
    readonly cache_write_tokens?: number;
  };
  if (usage.total_tokens !== usage.prompt_tokens + usage.completion_tokens) throw new Error("a total that is no sum");
  return {
    input: usage.prompt_tokens,
    cacheRead: details?.cached_tokens ?? 0,
    cacheWrite: details?.cache_write_tokens ?? 0,
    output: usage.completion_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
