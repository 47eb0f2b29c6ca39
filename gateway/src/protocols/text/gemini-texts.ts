import {
  data,
  fileName,
  media,
  object,
  piece,
  sealed,
  text,
  toolArguments,
  toolResults,
  url,
  word,
  wordsOf,
} from "./common-shapes.ts";
import type { DialectTexts, TextShape } from "./shape.ts";

// Source: Content, Part and GenerateContentResponse of the npm package `@google/genai`. Both spellings of a name are valid.

const inlineData = object({ mimeType: word, mime_type: word, data: media, displayName: fileName });
const fileData = object({ mimeType: word, mime_type: word, fileUri: url, file_uri: url, displayName: fileName });

/** Arguments in pieces, each at a path in them. */
const partialArgs = object(
  { jsonPath: text, json_path: text, stringValue: piece(text), string_value: piece(text), nullValue: word },
  { place: "tool_arguments", joined: true },
);

function partOf(textShape: TextShape): TextShape {
  const members = {
    text: textShape,
    thought: word,
    thoughtSignature: sealed,
    thought_signature: sealed,
    inlineData,
    inline_data: inlineData,
    fileData,
    file_data: fileData,
    functionCall: object({ id: text, name: text, args: toolArguments, partialArgs }),
    function_call: object({ id: text, name: text, args: toolArguments, partial_args: partialArgs }),
    functionResponse: object({ id: text, name: text, response: toolResults }, { place: "tool_results" }),
    function_response: object({ id: text, name: text, response: toolResults }, { place: "tool_results" }),
    executableCode: object({ language: word, code: { place: "tool_arguments" } }),
    codeExecutionResult: object({ outcome: word, output: { place: "tool_results" } }),
    videoMetadata: word,
    partMetadata: data,
  };
  return object(members, textShape.piece === true ? { joined: true } : {});
}

const content = object({ role: word, parts: partOf(text) });
const systemContent: TextShape = { ...content, place: "system" };

const declaration = object({
  name: text,
  description: text,
  parameters: data,
  parametersJsonSchema: data,
  response: data,
  responseJsonSchema: data,
});

const tools = object(
  { functionDeclarations: declaration, function_declarations: declaration, googleSearch: data, mcpServers: data },
  { place: "system" },
);

const generationConfig = object({
  stopSequences: text,
  responseMimeType: word,
  responseSchema: data,
  responseJsonSchema: data,
  responseModalities: word,
  thinkingConfig: object(wordsOf("thinkingBudget", "thinkingLevel", "includeThoughts")),
  speechConfig: data,
  mediaResolution: word,
  ...wordsOf("temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "seed"),
  ...wordsOf("presencePenalty", "frequencyPenalty", "responseLogprobs", "logprobs"),
});

const request = object({
  model: word,
  contents: content,
  systemInstruction: systemContent,
  system_instruction: systemContent,
  tools,
  toolConfig: data,
  tool_config: data,
  safetySettings: object({ category: word, threshold: word, method: word }),
  safety_settings: object({ category: word, threshold: word, method: word }),
  generationConfig,
  generation_config: generationConfig,
  cachedContent: text,
  cached_content: text,
  labels: data,
});

function answerOf(textShape: TextShape): TextShape {
  return object({
    responseId: text,
    modelVersion: word,
    createTime: word,
    usageMetadata: word,
    promptFeedback: object({ blockReason: word, safetyRatings: word }),
    candidates: object({
      index: word,
      finishReason: { skip: "structure", ends: true },
      content: object({ role: word, parts: partOf(textShape) }),
      safetyRatings: word,
      avgLogprobs: word,
      tokenCount: word,
      logprobsResult: { repeats: "null" },
    }),
  });
}

export const geminiTexts: DialectTexts = {
  request,
  answer: answerOf(text),
  stream: {
    event: answerOf(piece(text)),
    labels: ["index", "thought", "jsonPath", "json_path"],
    endsTexts: () => false,
  },
};
