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
import type { Ask, Caller, Heard, HeardUsage, Said, ToolChoice } from "./ask.ts";
import type { GatewayAccess } from "./gateway-access.ts";
import { createTape, type Tape } from "./tape.ts";

/** generateContent of the official `@google/genai`, this major version or the one before, with nothing set but the address. */
export function generateCaller(access: GatewayAccess, version: "latest" | "previous"): Caller {
  const client = (tape: Tape): GoogleGenAI => {
    const options = { apiKey: access.key, httpOptions: { baseUrl: access.url, fetch: tape.fetch } };
    return version === "latest" ? new GoogleGenAI(options) : new previous.GoogleGenAI(options);
  };
  return {
    name: version === "latest" ? "google genai" : "google genai previous",
    dialect: "generate",
    async whole(ask) {
      const tape = createTape(access.onExchange);
      const response = await client(tape).models.generateContent(paramsOf(ask));
      return heardOf([response], tape);
    },
    async stream(ask) {
      const tape = createTape(access.onExchange);
      const stream = await client(tape).models.generateContentStream(paramsOf(ask));
      return heardOf(await Array.fromAsync(stream), tape);
    },
    errorOf(thrown) {
      if (!(thrown instanceof ApiError || thrown instanceof previous.ApiError)) return null;
      return { status: thrown.status, kind: thrown.constructor.name, said: thrown.message };
    },
  };
}

/** The two majors differ in where they send calls, and in types that these calls do not touch: those of the newest are checked. */
const previous = createRequire(import.meta.url)("google-genai-previous") as typeof import("@google/genai");

function paramsOf(ask: Ask): GenerateContentParameters {
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
  const named = choice === "any" ? {} : { allowedFunctionNames: [choice.name] };
  return { mode: FunctionCallingConfigMode.ANY, ...named };
}

function contentOf(said: Said): Content {
  switch (said.by) {
    case "model":
      return { role: "model", parts: [{ text: said.text }] };
    case "echo":
      return { role: "model", parts: said.heard.echo as Part[] };
    case "tools":
      return {
        role: "user",
        parts: said.results.map(({ id, name, text }) => ({
          functionResponse: { ...(id === "" ? {} : { id }), name, response: { output: text } },
        })),
      };
    case "user":
      return {
        role: "user",
        parts: [
          { text: said.text },
          ...(said.imagePng === undefined ? [] : [{ inlineData: { mimeType: "image/png", data: said.imagePng } }]),
          ...(said.documentPdf === undefined
            ? []
            : [{ inlineData: { mimeType: "application/pdf", data: said.documentPdf, displayName: "paper.pdf" } }]),
        ],
      };
  }
}

/** A stream's responses hold what is new in each; the SDK leaves it to its users to put them together. */
function heardOf(responses: readonly GenerateContentResponse[], tape: Tape): Heard {
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
    exchange: tape.last(),
  };
}

function usageOf(last: GenerateContentResponse | undefined): HeardUsage {
  const usage = last?.usageMetadata;
  if (usage === undefined) throw new Error("an answer without usage");
  const reasoning = usage.thoughtsTokenCount ?? 0;
  const input = usage.promptTokenCount ?? 0;
  const output = (usage.candidatesTokenCount ?? 0) + reasoning;
  if (usage.totalTokenCount !== input + output) throw new Error("a total that is no sum");
  return { input, cacheRead: usage.cachedContentTokenCount ?? 0, cacheWrite: null, output, reasoning };
}
