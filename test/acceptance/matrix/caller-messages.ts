import Anthropic from "@anthropic-ai/sdk";
import AnthropicPrevious from "anthropic-sdk-previous";
import type { Caller, CallResult, CallSpec, ToolChoice, Turn, Usage } from "./call-spec.ts";
import type { GatewayAccess } from "./gateway-access.ts";
import { createRecorder, type Recorder } from "./recorder.ts";

type MessageParams = Anthropic.MessageCreateParamsNonStreaming;
type Message = Anthropic.Message;
type Version = "latest" | "previous" | "previous beta";

/** Messages with the official `@anthropic-ai/sdk`: this major version, the previous one, or its beta resource. */
export function messagesCaller(access: GatewayAccess, version: Version): Caller {
  const messages = (recorder: Recorder): Anthropic.Messages => resourceOf(access, version, recorder);
  return {
    name: { latest: "anthropic", previous: "anthropic-previous", "previous beta": "anthropic-previous beta" }[version],
    dialect: "messages",
    async whole(ask) {
      const recorder = createRecorder(access.onExchange);
      return resultOf(await messages(recorder).create(paramsOf(ask)), recorder, []);
    },
    async stream(ask) {
      const recorder = createRecorder(access.onExchange);
      const stream = messages(recorder).stream(paramsOf(ask));
      const pieces: string[] = [];
      for await (const event of stream) {
        if (event.type === "content_block_delta" && event.delta.type === "text_delta") pieces.push(event.delta.text);
      }
      return resultOf(await stream.finalMessage(), recorder, pieces);
    },
    async count(ask) {
      const recorder = createRecorder(access.onExchange);
      const { max_tokens: _max, ...counted } = paramsOf(ask);
      const { input_tokens: tokens } = await messages(recorder).countTokens(counted);
      return { tokens, exchange: recorder.last() };
    },
    errorOf(thrown) {
      const isOwnError = thrown instanceof Anthropic.APIError || thrown instanceof AnthropicPrevious.APIError;
      return isOwnError ? { status: thrown.status, kind: thrown.constructor.name, message: thrown.message } : null;
    },
  };
}

function resourceOf(access: GatewayAccess, version: Version, recorder: Recorder): Anthropic.Messages {
  const options = { baseURL: access.url, apiKey: access.key, maxRetries: 0, fetch: recorder.fetch };
  if (version === "latest") return new Anthropic(options).messages;
  const client = new AnthropicPrevious(options);
  // For these calls, the resources differ only in types.
  const resource: unknown = version === "previous" ? client.messages : client.beta.messages;
  return resource as Anthropic.Messages;
}

function paramsOf(ask: CallSpec): MessageParams {
  const { model, system, turns, tools, thinks, schema, outputMax, toolChoice } = ask;
  return {
    model,
    max_tokens: outputMax ?? 4_096,
    messages: turns.map(messageOf),
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            name,
            description,
            input_schema: { ...parameters },
          })),
        }),
    ...(thinks === true ? { thinking: { type: "enabled", budget_tokens: 1_024 } } : {}),
    ...(toolChoice === undefined ? {} : { tool_choice: choiceOf(toolChoice) }),
    ...(schema === undefined ? {} : { output_config: { format: { type: "json_schema", schema: { ...schema } } } }),
  };
}

function choiceOf(choice: ToolChoice): Anthropic.ToolChoice {
  return typeof choice === "string" ? { type: choice } : { type: "tool", name: choice.name };
}

function messageOf(turn: Turn): Anthropic.MessageParam {
  switch (turn.by) {
    case "model":
      return { role: "assistant", content: turn.text };
    case "echo":
      return { role: "assistant", content: turn.result.echo as Anthropic.ContentBlock[] };
    case "tools":
      return {
        role: "user",
        content: turn.results.map(({ id, text }) => ({ type: "tool_result", tool_use_id: id, content: text })),
      };
    case "user":
      return { role: "user", content: partsOf(turn) };
  }
}

function partsOf(turn: Extract<Turn, { by: "user" }>): string | Anthropic.ContentBlockParam[] {
  const parts: Anthropic.ContentBlockParam[] = [{ type: "text", text: turn.text }];
  if (turn.imagePng !== undefined) {
    parts.push({ type: "image", source: { type: "base64", media_type: "image/png", data: turn.imagePng } });
  }
  if (turn.documentPdf !== undefined) {
    const source = { type: "base64" as const, media_type: "application/pdf" as const, data: turn.documentPdf };
    parts.push({ type: "document", source, title: "paper.pdf" });
  }
  return parts.length === 1 ? turn.text : parts;
}

function resultOf(message: Message, recorder: Recorder, pieces: readonly string[]): CallResult {
  const { content } = message;
  const stop = { end_turn: "stop", max_tokens: "length", tool_use: "tool-calls" }[message.stop_reason as string];
  return {
    text: content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""),
    refusal: "",
    thinking: content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : [])).join(""),
    calls: content.flatMap((block) =>
      block.type === "tool_use" ? [{ id: block.id, name: block.name, args: block.input }] : [],
    ),
    stop: stop ?? String(message.stop_reason),
    usage: () => usageOf(message),
    echo: content,
    pieces,
    exchange: recorder.last(),
  };
}

function usageOf({ usage }: Message): Usage {
  const cacheRead = usage.cache_read_input_tokens ?? 0;
  const cacheWrite = usage.cache_creation_input_tokens ?? 0;
  return {
    input: usage.input_tokens + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details?.thinking_tokens ?? null,
  };
}
