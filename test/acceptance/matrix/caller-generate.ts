import { createRequire } from "node:module";
import {
  ApiError,
  type Content,
  type FunctionCallingConfig,
  FunctionCallingConfigMode,
  type GenerateContentParameters,
  type GenerateContentResponse,
  GoogleGenAI,
  type Part,
} from "@google/genai";
import type { Caller, CallResult, CallSpec, ToolChoice, Turn, Usage } from "./call-spec.ts";
import type { GatewayAccess } from "./gateway-access.ts";
import { createRecorder, type Recorder } from "./recorder.ts";

/** generateContent with the official `@google/genai`, this major version or the previous one, with only the address set. */
export function generateCaller(access: GatewayAccess, version: "latest" | "previous"): Caller {
  const client = (recorder: Recorder): GoogleGenAI => {
    const options = { apiKey: access.key, httpOptions: { baseUrl: access.url, fetch: recorder.fetch } };
    return version === "latest" ? new GoogleGenAI(options) : new previous.GoogleGenAI(options);
  };
  return {
    name: version === "latest" ? "google genai" : "google genai previous",
    dialect: "generate",
    async whole(ask) {
      const recorder = createRecorder(access.onExchange);
      const response = await client(recorder).models.generateContent(paramsOf(ask));
      return resultOf([response], recorder);
    },
    async stream(ask) {
      const recorder = createRecorder(access.onExchange);
      const stream = await client(recorder).models.generateContentStream(paramsOf(ask));
      return resultOf(await Array.fromAsync(stream), recorder);
    },
    errorOf(thrown) {
      if (!(thrown instanceof ApiError || thrown instanceof previous.ApiError)) return null;
      return { status: thrown.status, kind: thrown.constructor.name, message: thrown.message };
    },
  };
}

/** The major versions differ in their base URL and in types that these calls do not use. Only the latest types are checked. */
const previous = createRequire(import.meta.url)("google-genai-previous") as typeof import("@google/genai");

function paramsOf(ask: CallSpec): GenerateContentParameters {
  const { model, system, turns, tools, thinks, schema, outputMax, toolChoice } = ask;
  const functionDeclarations = tools?.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
  }));
  return {
    model,
    contents: turns.map(contentOf),
    config: {
      ...(system === undefined ? {} : { systemInstruction: system }),
      ...(functionDeclarations === undefined ? {} : { tools: [{ functionDeclarations }] }),
      ...(thinks === true ? { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } } : {}),
      ...(schema === undefined ? {} : { responseMimeType: "application/json", responseJsonSchema: schema }),
      ...(outputMax === undefined ? {} : { maxOutputTokens: outputMax }),
      ...(toolChoice === undefined ? {} : { toolConfig: { functionCallingConfig: choiceOf(toolChoice) } }),
    },
  };
}

function choiceOf(choice: ToolChoice): FunctionCallingConfig {
  if (choice === "none") return { mode: FunctionCallingConfigMode.NONE };
  const allowed = choice === "any" ? {} : { allowedFunctionNames: [choice.name] };
  return { mode: FunctionCallingConfigMode.ANY, ...allowed };
}

function contentOf(turn: Turn): Content {
  switch (turn.by) {
    case "model":
      return { role: "model", parts: [{ text: turn.text }] };
    case "echo":
      return { role: "model", parts: turn.result.echo as Part[] };
    case "tools":
      return {
        role: "user",
        parts: turn.results.map(({ id, name, text }) => ({
          functionResponse: { ...(id === "" ? {} : { id }), name, response: { output: text } },
        })),
      };
    case "user":
      return {
        role: "user",
        parts: [
          { text: turn.text },
          ...(turn.imagePng === undefined ? [] : [{ inlineData: { mimeType: "image/png", data: turn.imagePng } }]),
          ...(turn.documentPdf === undefined
            ? []
            : [{ inlineData: { mimeType: "application/pdf", data: turn.documentPdf, displayName: "paper.pdf" } }]),
        ],
      };
  }
}

/** The SDK does not assemble a stream, so its responses are combined here. */
function resultOf(responses: readonly GenerateContentResponse[], recorder: Recorder): CallResult {
  const parts = responses.flatMap((response) => response.candidates?.[0]?.content?.parts ?? []);
  const pieces = parts.flatMap((part) => (part.thought === true || !part.text ? [] : [part.text]));
  const calls = parts.flatMap(({ functionCall }) =>
    functionCall === undefined
      ? []
      : [{ id: functionCall.id ?? "", name: functionCall.name ?? "", args: functionCall.args ?? {} }],
  );
  const last = responses.at(-1);
  const finish = last?.candidates?.[0]?.finishReason ?? "";
  return {
    text: pieces.join(""),
    refusal: "",
    thinking: parts.flatMap((part) => (part.thought === true ? [part.text ?? ""] : [])).join(""),
    calls,
    stop: finish === "STOP" ? (calls.length > 0 ? "tool-calls" : "stop") : finish === "MAX_TOKENS" ? "length" : finish,
    usage: () => usageOf(last),
    echo: parts,
    pieces: responses.length > 1 ? pieces : [],
    exchange: recorder.last(),
  };
}

function usageOf(last: GenerateContentResponse | undefined): Usage {
  const usage = last?.usageMetadata;
  if (usage === undefined) throw new Error("the answer has no usage");
  const reasoning = usage.thoughtsTokenCount ?? 0;
  const input = usage.promptTokenCount ?? 0;
  const output = (usage.candidatesTokenCount ?? 0) + reasoning;
  if (usage.totalTokenCount !== input + output) throw new Error("the total is not the sum");
  return { input, cacheRead: usage.cachedContentTokenCount ?? 0, cacheWrite: null, output, reasoning };
}
