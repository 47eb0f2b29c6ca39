import OpenAI from "openai";
import OpenAIPrevious from "openai-previous";
import type { Caller, CallResult, CallSpec, ToolCall, ToolChoice, Turn, Usage } from "./call-spec.ts";
import type { GatewayAccess } from "./gateway-access.ts";
import { createRecorder, type Recorder } from "./recorder.ts";

type ChatParams = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam;
type Completion = OpenAI.Chat.ChatCompletion;

/** Chat completions with the official `openai` package, this major version or the previous one. */
export function chatCaller(access: GatewayAccess, version: "latest" | "previous"): Caller {
  const client = (recorder: Recorder): OpenAI => openAiClient(access, version, recorder);
  return {
    name: version === "latest" ? "openai chat" : "openai-previous chat",
    dialect: "chat",
    async whole(ask) {
      const recorder = createRecorder(access.onExchange);
      const completion = await client(recorder).chat.completions.create(paramsOf(ask));
      return resultOf(completion, recorder, [], "");
    },
    async stream(ask) {
      const recorder = createRecorder(access.onExchange);
      const params = { ...paramsOf(ask), stream: true as const, stream_options: { include_usage: true } };
      const stream = client(recorder).chat.completions.stream(params);
      const pieces: string[] = [];
      let thinking = "";
      for await (const chunk of stream) {
        const delta = chunk.choices[0]?.delta;
        if (typeof delta?.content === "string" && delta.content !== "") pieces.push(delta.content);
        thinking += reasoningIn(delta);
      }
      return resultOf(await stream.finalChatCompletion(), recorder, pieces, thinking);
    },
    errorOf: openAiErrorOf,
  };
}

export function openAiClient(access: GatewayAccess, version: "latest" | "previous", recorder: Recorder): OpenAI {
  const options = { baseURL: `${access.url}/v1`, apiKey: access.key, maxRetries: 0, fetch: recorder.fetch };
  if (version === "latest") return new OpenAI(options);
  // For these calls, the two major versions differ only in types.
  return new OpenAIPrevious(options) as unknown as OpenAI;
}

export function openAiErrorOf(thrown: unknown): ReturnType<Caller["errorOf"]> {
  const isOwnError = thrown instanceof OpenAI.APIError || thrown instanceof OpenAIPrevious.APIError;
  return isOwnError ? { status: thrown.status, kind: thrown.constructor.name, message: thrown.message } : null;
}

function paramsOf(ask: CallSpec): ChatParams {
  const { model, system, turns, tools, thinks, schema, outputMax, toolChoice } = ask;
  const messages: ChatMessage[] = system === undefined ? [] : [{ role: "system", content: system }];
  for (const turn of turns) messages.push(...messagesOf(turn));
  // OpenAI has no such field; other vendors with this API use it to show reasoning.
  const showReasoning = { reasoning_effort: "medium" as const, include_reasoning: true };
  return {
    model,
    messages,
    ...(tools === undefined
      ? {}
      : { tools: tools.map((tool) => ({ type: "function" as const, function: { ...tool } })) }),
    ...(thinks === true ? showReasoning : {}),
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

function messagesOf(turn: Turn): readonly ChatMessage[] {
  switch (turn.by) {
    case "model":
      return [{ role: "assistant", content: turn.text }];
    case "echo":
      return turn.result.echo as readonly ChatMessage[];
    case "tools":
      return turn.results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text }));
    case "user":
      return [{ role: "user", content: partsOf(turn) }];
  }
}

function partsOf(turn: Extract<Turn, { by: "user" }>): string | OpenAI.Chat.ChatCompletionContentPart[] {
  const parts: OpenAI.Chat.ChatCompletionContentPart[] = [{ type: "text", text: turn.text }];
  if (turn.imagePng !== undefined) {
    parts.push({ type: "image_url", image_url: { url: `data:image/png;base64,${turn.imagePng}`, detail: "low" } });
  }
  if (turn.documentPdf !== undefined) {
    const data = `data:application/pdf;base64,${turn.documentPdf}`;
    parts.push({ type: "file", file: { filename: "paper.pdf", file_data: data } });
  }
  return parts.length === 1 ? turn.text : parts;
}

function resultOf(
  completion: Completion,
  recorder: Recorder,
  pieces: readonly string[],
  streamedThinking: string,
): CallResult {
  const choice = completion.choices[0];
  if (choice === undefined) throw new Error("the answer has no choice");
  const { message } = choice;
  const thinking = streamedThinking === "" ? reasoningIn(message) : streamedThinking;
  const stop = { stop: "stop", length: "length", tool_calls: "tool-calls" }[choice.finish_reason as string];
  return {
    text: message.content ?? "",
    refusal: message.refusal ?? "",
    thinking,
    calls: (message.tool_calls ?? []).map(callOf),
    stop: stop ?? choice.finish_reason,
    usage: () => usageOf(completion),
    // The SDK's accumulator keeps only the last piece of an unknown field.
    echo: [thinking === "" ? message : { ...message, reasoning_content: thinking }],
    pieces,
    exchange: recorder.last(),
  };
}

function callOf(call: OpenAI.Chat.ChatCompletionMessageToolCall): ToolCall {
  if (call.type !== "function") throw new Error("the tool call is not a function call");
  return { id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) };
}

/** The reasoning in `reasoning_content` or `reasoning`; vendors use both names. */
function reasoningIn(message: object | undefined): string {
  const fields = (message ?? {}) as { readonly reasoning_content?: unknown; readonly reasoning?: unknown };
  const reasoning = fields.reasoning_content ?? fields.reasoning;
  return typeof reasoning === "string" ? reasoning : "";
}

function usageOf({ usage }: Completion): Usage {
  if (usage === undefined) throw new Error("the answer has no usage");
  const details = usage.prompt_tokens_details as {
    readonly cached_tokens?: number;
    readonly cache_write_tokens?: number;
  };
  if (usage.total_tokens !== usage.prompt_tokens + usage.completion_tokens) throw new Error("the total is not the sum");
  return {
    input: usage.prompt_tokens,
    cacheRead: details?.cached_tokens ?? 0,
    cacheWrite: details?.cache_write_tokens ?? 0,
    output: usage.completion_tokens,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
