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
import type { Caller, CallerDialect, CallResult, CallSpec, Turn, Usage } from "./call-spec.ts";
import type { GatewayAccess } from "./gateway-access.ts";
import { createRecorder, type Recorder } from "./recorder.ts";

export type AiPackage = "openai" | "openai chat" | "openai-compatible" | "anthropic" | "google";

type GenerateOptions = Parameters<typeof generateText>[0];
type ProviderOptions = NonNullable<GenerateOptions["providerOptions"]>;

interface Dialect {
  readonly dialect: CallerDialect;
  readonly model: (access: GatewayAccess, name: string, fetch: typeof globalThis.fetch) => LanguageModel;
  /** Sent with every call. */
  readonly always?: ProviderOptions;
  /** Sent if reasoning must be shown. */
  readonly thinks?: ProviderOptions;
}

const packages: Readonly<Record<AiPackage, Dialect>> = {
  openai: {
    dialect: "responses",
    model: (access, name, fetch) => createOpenAI({ ...openAiAddress(access), fetch })(name),
    always: { openai: { store: false } },
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
    // The package takes a name with a slash for a complete path below the base URL.
    model: (access, name, fetch) =>
      createGoogleGenerativeAI({ baseURL: `${access.url}/v1beta`, apiKey: access.key, fetch })(`models/${name}`),
    thinks: { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } } },
  },
};

function openAiAddress(access: GatewayAccess): { readonly baseURL: string; readonly apiKey: string } {
  return { baseURL: `${access.url}/v1`, apiKey: access.key };
}

/** Vercel's AI SDK with one of its provider packages. */
export function aiCaller(access: GatewayAccess, name: AiPackage): Caller {
  const { dialect } = packages[name];
  return {
    name: `ai ${name}`,
    dialect,
    errorClass: "AI_APICallError",
    async whole(ask) {
      const recorder = createRecorder(access.onExchange);
      const result = await generateText(optionsOf(access, name, recorder, ask));
      if (ask.schema !== undefined) await result.output;
      return resultOf(result, recorder, []);
    },
    async stream(ask) {
      const recorder = createRecorder(access.onExchange);
      const result = streamText({ ...optionsOf(access, name, recorder, ask), onError: () => {} });
      const pieces: string[] = [];
      for await (const part of result.fullStream) {
        if (part.type === "error") throw part.error;
        if (part.type === "text-delta" && part.text !== "") pieces.push(part.text);
      }
      if (ask.schema !== undefined) await result.output;
      return resultOf(await settle(result), recorder, pieces);
    },
    errorOf(thrown) {
      if (!AISDKError.isInstance(thrown)) return null;
      const status = APICallError.isInstance(thrown) ? thrown.statusCode : undefined;
      return { status, kind: thrown.name, message: thrown.message };
    },
  };
}

function optionsOf(access: GatewayAccess, name: AiPackage, recorder: Recorder, ask: CallSpec): GenerateOptions {
  const { model, system, turns, tools, thinks, schema, outputMax, toolChoice } = ask;
  const kind = packages[name];
  const providerOptions = thinks === true ? (kind.thinks ?? kind.always) : kind.always;
  return {
    model: kind.model(access, model, recorder.fetch as typeof globalThis.fetch),
    maxRetries: 0,
    messages: turns.flatMap(messagesOf),
    ...(system === undefined ? {} : { instructions: system }),
    ...(tools === undefined ? {} : { tools: toolsOf(tools) }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(schema === undefined ? {} : { output: Output.object({ schema: jsonSchema({ ...schema }) }) as never }),
    ...(outputMax === undefined ? {} : { maxOutputTokens: outputMax }),
    // Otherwise the package guesses a limit from the model's name and warns.
    ...(kind.dialect === "messages" ? { maxOutputTokens: outputMax ?? 4_096 } : {}),
    ...(toolChoice === undefined ? {} : { toolChoice: choiceOf(toolChoice) }),
  };
}

function toolsOf(tools: NonNullable<CallSpec["tools"]>): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema({ ...parameters }) }),
    ]),
  );
}

function choiceOf(choice: NonNullable<CallSpec["toolChoice"]>): NonNullable<GenerateOptions["toolChoice"]> {
  if (choice === "none") return "none";
  return choice === "any" ? "required" : { type: "tool", toolName: choice.name };
}

function messagesOf(turn: Turn): readonly ModelMessage[] {
  switch (turn.by) {
    case "model":
      return [{ role: "assistant", content: turn.text }];
    case "echo":
      return turn.result.echo as readonly ModelMessage[];
    case "tools": {
      const content = turn.results.map(({ id, name, text }) => ({
        type: "tool-result" as const,
        toolCallId: id,
        toolName: name,
        output: { type: "text" as const, value: text },
      }));
      return [{ role: "tool", content }];
    }
    case "user":
      return [{ role: "user", content: partsOf(turn) }];
  }
}

function partsOf(turn: Extract<Turn, { by: "user" }>): UserContent {
  const parts: Exclude<UserContent, string> = [{ type: "text", text: turn.text }];
  if (turn.imagePng !== undefined) parts.push({ type: "file", data: turn.imagePng, mediaType: "image/png" });
  if (turn.documentPdf !== undefined) {
    parts.push({ type: "file", data: turn.documentPdf, mediaType: "application/pdf", filename: "paper.pdf" });
  }
  return parts.length === 1 ? turn.text : parts;
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

async function settle(result: ReturnType<typeof streamText>): Promise<Answer> {
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

function resultOf(answer: Answer, recorder: Recorder, pieces: readonly string[]): CallResult {
  return {
    text: answer.text,
    refusal: "",
    thinking: answer.reasoningText ?? "",
    calls: answer.toolCalls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, args: input })),
    stop: answer.rawFinishReason === "refusal" ? "refusal" : answer.finishReason,
    usage: () => usageOf(answer.usage),
    echo: answer.responseMessages,
    pieces,
    exchange: recorder.last(),
  };
}

function usageOf({ inputTokens, inputTokenDetails, outputTokens, outputTokenDetails }: LanguageModelUsage): Usage {
  if (inputTokens === undefined || outputTokens === undefined) throw new Error("the answer has no usage");
  return {
    input: inputTokens,
    cacheRead: inputTokenDetails.cacheReadTokens ?? 0,
    cacheWrite: inputTokenDetails.cacheWriteTokens ?? null,
    output: outputTokens,
    reasoning: outputTokenDetails.reasoningTokens ?? null,
  };
}
