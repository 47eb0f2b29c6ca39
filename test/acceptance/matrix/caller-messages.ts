import Anthropic from "@anthropic-ai/sdk";
import AnthropicPrevious from "anthropic-sdk-previous";
import type { Ask, Caller, Heard, HeardUsage, Said, ToolChoice } from "./ask.ts";
import type { GatewayAccess } from "./gateway-access.ts";
import { createTape, type Tape } from "./tape.ts";

type MessageParams = Anthropic.MessageCreateParamsNonStreaming;
type Message = Anthropic.Message;
type Version = "latest" | "previous" | "previous beta";

/** Messages of the official `@anthropic-ai/sdk`, this major version, the one before, or its beta resource. */
export function messagesCaller(access: GatewayAccess, version: Version): Caller {
  const messages = (tape: Tape): Anthropic.Messages => resourceOf(access, version, tape);
  return {
    name: { latest: "anthropic", previous: "anthropic-previous", "previous beta": "anthropic-previous beta" }[version],
    dialect: "messages",
    async whole(ask) {
      const tape = createTape(access.onExchange);
      return heardOf(await messages(tape).create(paramsOf(ask)), tape, []);
    },
    async stream(ask) {
      const tape = createTape(access.onExchange);
      const stream = messages(tape).stream(paramsOf(ask));
      const pieces: string[] = [];
      for await (const event of stream) {
        if (event.type === "content_block_delta" && event.delta.type === "text_delta") pieces.push(event.delta.text);
      }
      return heardOf(await stream.finalMessage(), tape, pieces);
    },
    async count(ask) {
      const tape = createTape(access.onExchange);
      const { max_tokens: _max, ...counted } = paramsOf(ask);
      const { input_tokens: tokens } = await messages(tape).countTokens(counted);
      return { tokens, exchange: tape.last() };
    },
    errorOf(thrown) {
      const own = thrown instanceof Anthropic.APIError || thrown instanceof AnthropicPrevious.APIError;
      return own ? { status: thrown.status, kind: thrown.constructor.name, said: thrown.message } : null;
    },
  };
}

function resourceOf(access: GatewayAccess, version: Version, tape: Tape): Anthropic.Messages {
  const options = { baseURL: access.url, apiKey: access.key, maxRetries: 0, fetch: tape.fetch };
  if (version === "latest") return new Anthropic(options).messages;
  const client = new AnthropicPrevious(options);
  // The resources differ in types alone as far as these calls go.
  const resource: unknown = version === "previous" ? client.messages : client.beta.messages;
  return resource as Anthropic.Messages;
}

function paramsOf(ask: Ask): MessageParams {
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

function messageOf(said: Said): Anthropic.MessageParam {
  switch (said.by) {
    case "model":
      return { role: "assistant", content: said.text };
    case "echo":
      return { role: "assistant", content: said.heard.echo as Anthropic.ContentBlock[] };
    case "tools":
      return {
        role: "user",
        content: said.results.map(({ id, text }) => ({ type: "tool_result", tool_use_id: id, content: text })),
      };
    case "user":
      return { role: "user", content: partsOf(said) };
  }
}

function partsOf(said: Extract<Said, { by: "user" }>): string | Anthropic.ContentBlockParam[] {
  const parts: Anthropic.ContentBlockParam[] = [{ type: "text", text: said.text }];
  if (said.imagePng !== undefined) {
    parts.push({ type: "image", source: { type: "base64", media_type: "image/png", data: said.imagePng } });
  }
  if (said.documentPdf !== undefined) {
    const source = { type: "base64" as const, media_type: "application/pdf" as const, data: said.documentPdf };
    parts.push({ type: "document", source, title: "paper.pdf" });
  }
  return parts.length === 1 ? said.text : parts;
}

function heardOf(message: Message, tape: Tape, pieces: readonly string[]): Heard {
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
    exchange: tape.last(),
  };
}

function usageOf({ usage }: Message): HeardUsage {
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
