import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  AISDKError,
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  streamText,
  type ToolSet,
  tool,
  type UserContent,
} from "ai";
import type { Ask, Caller, CallerDialect, Heard, HeardUsage, Said } from "./ask.ts";
import type { GatewayAccess } from "./gateway-access.ts";
import { createTape, type Tape } from "./tape.ts";

export type AiPackage = "openai" | "openai chat" | "openai-compatible" | "anthropic" | "google";

type GenerateOptions = Parameters<typeof generateText>[0];
type ProviderOptions = NonNullable<GenerateOptions["providerOptions"]>;

interface Dialect {
  readonly dialect: CallerDialect;
  readonly model: (access: GatewayAccess, name: string, fetch: typeof globalThis.fetch) => LanguageModel;
  /** Said with every call. */
  readonly usual?: ProviderOptions;
  /** Said when thoughts are to be shown. */
  readonly thinks?: ProviderOptions;
}

const packages: Readonly<Record<AiPackage, Dialect>> = {
  openai: {
    dialect: "responses",
    model: (access, name, fetch) => createOpenAI({ ...openAiAddress(access), fetch })(name),
    usual: { openai: { store: false } },
    thinks: {
      openai: { store: false, forceReasoning: true, reasoningEffort: "medium", reasoningSummary: "auto" },
    },
  },
  "openai chat": {
    dialect: "chat",
    model: (access, name, fetch) => createOpenAI({ ...openAiAddress(access), fetch }).chat(name),
    thinks: { openai: { forceReasoning: true, reasoningEffort: "medium" } },
  },
  "openai-compatible": {
    dialect: "chat",
    model: (access, name, fetch) => {
      const address = openAiAddress(access);
      return createOpenAICompatible({
        name: "sluice",
        ...address,
        fetch,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })(name);
    },
    thinks: { sluice: { reasoningEffort: "medium", include_reasoning: true } },
  },
  anthropic: {
    dialect: "messages",
    model: (access, name, fetch) => createAnthropic({ ...openAiAddress(access), fetch })(name),
    thinks: { anthropic: { thinking: { type: "enabled", budgetTokens: 1_024 } } },
  },
  google: {
    dialect: "generate",
    // A name with a slash is taken for a whole path below the base URL.
    model: (access, name, fetch) =>
      createGoogleGenerativeAI({ baseURL: `${access.url}/v1beta`, apiKey: access.key, fetch })(`models/${name}`),
    thinks: { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } } },
  },
};

function openAiAddress(access: GatewayAccess): { readonly baseURL: string; readonly apiKey: string } {
  return { baseURL: `${access.url}/v1`, apiKey: access.key };
}

/** Vercel's AI SDK with one of its packages for vendors. */
export function aiCaller(access: GatewayAccess, name: AiPackage): Caller {
  const { dialect } = packages[name];
  return {
    name: `ai ${name}`,
    dialect,
    errorClass: "AI_APICallError",
    async whole(ask) {
      const tape = createTape(access.onExchange);
      const result = await generateText(optionsOf(access, name, tape, ask));
      if (ask.schema !== undefined) await result.output;
      return heardOf(result, tape, []);
    },
    async stream(ask) {
      const tape = createTape(access.onExchange);
      const result = streamText({ ...optionsOf(access, name, tape, ask), onError: () => {} });
      const pieces: string[] = [];
      for await (const part of result.fullStream) {
        if (part.type === "error") throw part.error;
        if (part.type === "text-delta" && part.text !== "") pieces.push(part.text);
      }
      if (ask.schema !== undefined) await result.output;
      return heardOf(await awaited(result), tape, pieces);
    },
    errorOf(thrown) {
      if (!AISDKError.isInstance(thrown)) return null;
      const status = APICallError.isInstance(thrown) ? thrown.statusCode : undefined;
      return { status, kind: thrown.name, said: thrown.message };
    },
  };
}

function optionsOf(access: GatewayAccess, name: AiPackage, tape: Tape, ask: Ask): GenerateOptions {
  const { model, system, turns, tools, thinks, schema, outputMax, toolChoice } = ask;
  const kind = packages[name];
  const providerOptions = thinks === true ? (kind.thinks ?? kind.usual) : kind.usual;
  return {
    model: kind.model(access, model, tape.fetch as typeof globalThis.fetch),
    maxRetries: 0,
    messages: turns.flatMap(messagesOf),
    ...(system === undefined ? {} : { instructions: system }),
    ...(tools === undefined ? {} : { tools: toolsOf(tools) }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(schema === undefined ? {} : { output: Output.object({ schema: jsonSchema({ ...schema }) }) as never }),
    ...(outputMax === undefined ? {} : { maxOutputTokens: outputMax }),
    // Without it the package guesses from the model's name, and warns.
    ...(kind.dialect === "messages" ? { maxOutputTokens: outputMax ?? 4_096 } : {}),
    ...(toolChoice === undefined ? {} : { toolChoice: choiceOf(toolChoice) }),
  };
}

function toolsOf(tools: NonNullable<Ask["tools"]>): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema({ ...parameters }) }),
    ]),
  );
}

function choiceOf(choice: NonNullable<Ask["toolChoice"]>): NonNullable<GenerateOptions["toolChoice"]> {
  if (choice === "none") return "none";
  return choice === "any" ? "required" : { type: "tool", toolName: choice.name };
}

function messagesOf(said: Said): readonly ModelMessage[] {
  switch (said.by) {
    case "model":
      return [{ role: "assistant", content: said.text }];
    case "echo":
      return said.heard.echo as readonly ModelMessage[];
    case "tools": {
      const content = said.results.map(({ id, name, text }) => ({
        type: "tool-result" as const,
        toolCallId: id,
        toolName: name,
        output: { type: "text" as const, value: text },
      }));
      return [{ role: "tool", content }];
    }
    case "user":
      return [{ role: "user", content: partsOf(said) }];
  }
}

function partsOf(said: Extract<Said, { by: "user" }>): UserContent {
  const parts: Exclude<UserContent, string> = [{ type: "text", text: said.text }];
  if (said.imagePng !== undefined) parts.push({ type: "file", data: said.imagePng, mediaType: "image/png" });
  if (said.documentPdf !== undefined) {
    parts.push({ type: "file", data: said.documentPdf, mediaType: "application/pdf", filename: "paper.pdf" });
  }
  return parts.length === 1 ? said.text : parts;
}

interface Answer {
  readonly text: string;
  readonly reasoningText: string | undefined;
  readonly toolCalls: readonly { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }[];
  readonly finishReason: string;
  readonly rawFinishReason: string | undefined;
  readonly usage: LanguageModelUsage;
  readonly responseMessages: readonly ModelMessage[];
}

async function awaited(result: ReturnType<typeof streamText>): Promise<Answer> {
  return {
    text: await result.text,
    reasoningText: await result.reasoningText,
    toolCalls: await result.toolCalls,
    finishReason: await result.finishReason,
    rawFinishReason: await result.rawFinishReason,
    usage: await result.usage,
    responseMessages: await result.responseMessages,
  };
}

function heardOf(answer: Answer, tape: Tape, pieces: readonly string[]): Heard {
  return {
    text: answer.text,
    refusal: "",
    thinking: answer.reasoningText ?? "",
    calls: answer.toolCalls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, args: input })),
    stop: answer.rawFinishReason === "refusal" ? "refusal" : answer.finishReason,
    usage: () => usageOf(answer.usage),
    echo: answer.responseMessages,
    pieces,
    exchange: tape.last(),
  };
}

function usageOf({ inputTokens, inputTokenDetails, outputTokens, outputTokenDetails }: LanguageModelUsage): HeardUsage {
  if (inputTokens === undefined || outputTokens === undefined) throw new Error("an answer without usage");
  return {
    input: inputTokens,
    cacheRead: inputTokenDetails.cacheReadTokens ?? 0,
    cacheWrite: inputTokenDetails.cacheWriteTokens ?? null,
    output: outputTokens,
    reasoning: outputTokenDetails.reasoningTokens ?? null,
  };
}
