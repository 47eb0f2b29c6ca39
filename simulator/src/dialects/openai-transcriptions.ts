import { type Answer, composeAnswer, wholeText } from "../answer.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import { bareRequest } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";

/**
 * Transcribes or translates audio, with any base path. 16,000 bytes of the file count as a second, which costs ten tokens unless the
 * model's name contains "whisper".
 */
export const openAiTranscriptions: Dialect = {
  id: "openai-transcriptions",
  matches: ({ method, path }) => method === "POST" && /\/audio\/(?:transcriptions|translations)$/.test(path),
  read,
  headers: openAiHeaders,
  error: openAiError,
};

const bytesPerSecond = 16_000;
const tokensPerSecond = 10;

function read(request: SimulatorRequest): Exchange {
  const { upload } = request;
  if (upload === undefined) throw new Refusal(415, "Expected multipart/form-data.");
  if (upload.broken !== null) throw new Refusal(400, `Could not parse multipart form: ${upload.broken}.`);
  const fields = new Map(
    upload.parts.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const])),
  );
  const file = upload.parts.find(({ name, filename }) => name === "file" && filename !== null);
  if (file === undefined) throw new Refusal(400, "Missing required parameter: 'file'.", { param: "file" });
  if (file.size === 0) throw new Refusal(400, "The audio file is empty.", { param: "file" });
  const modelParts = splitModel(fields.get("model") ?? "");
  if (modelParts.model === "") throw new Refusal(400, "you must provide a model parameter");
  const promptParts = splitMarker(fields.get("prompt") ?? "");
  const whisper = modelParts.model.includes("whisper");
  const seconds = file.size / bytesPerSecond;
  const tokens = Math.ceil(seconds) * tokensPerSecond;
  const format = fields.get("response_format") ?? "json";
  const parsed = {
    ...bareRequest(modelParts.model, whisper ? 0 : tokens),
    stream: fields.get("stream") === "true" && !whisper,
    script: { ...modelParts.script, ...promptParts.script },
  };
  const usageOf = (answer: Answer): object =>
    whisper
      ? { type: "duration", seconds: Math.ceil(seconds) }
      : {
          type: "tokens",
          input_tokens: answer.promptTokens,
          input_token_details: { text_tokens: 0, audio_tokens: answer.promptTokens },
          output_tokens: answer.contentTokens,
          total_tokens: answer.promptTokens + answer.contentTokens,
        };
  const isText = format === "text" || format === "srt" || format === "vtt";
  return {
    parsed,
    ping: null,
    ...(isText ? { rows: [["content-type", "text/plain; charset=utf-8"]] as const } : {}),
    compose: (script) => composeAnswer(parsed, script),
    whole(_head, answer) {
      const text = textOf(answer);
      const usage = answer.usage === null ? {} : { usage: usageOf(answer) };
      if (format === "text") return `${text}\n`;
      if (format === "srt") return `1\n00:00:00,000 --> ${time(seconds, ",")}\n${text}\n\n`;
      if (format === "vtt") return `WEBVTT\n\n00:00:00.000 --> ${time(seconds, ".")}\n${text}\n\n`;
      if (format === "verbose_json") {
        const segments = [{ id: 0, start: 0, end: seconds, text }];
        return JSON.stringify({ task: "transcribe", language: "english", duration: seconds, text, segments, ...usage });
      }
      return JSON.stringify({ text, ...usage });
    },
    events: (_head, answer) => events(answer, usageOf(answer)),
    errorEvent: (refusal, requestId) => ({ data: openAiError(refusal, requestId), tokens: 0, role: "error" }),
  };
}

function* events(answer: Answer, usage: object): Iterable<DialectEvent> {
  for (const part of answer.parts.filter(({ kind }) => kind === "text")) {
    for (let at = 0; at < part.count; at += 1) {
      yield {
        data: JSON.stringify({ type: "transcript.text.delta", delta: part.piece(at) }),
        tokens: 1,
        role: "content",
      };
    }
  }
  const usageField = answer.usage === null ? {} : { usage };
  yield {
    data: JSON.stringify({ type: "transcript.text.done", text: textOf(answer), ...usageField }),
    tokens: 0,
    role: "last",
  };
}

function textOf(answer: Answer): string {
  return answer.parts
    .filter(({ kind }) => kind === "text")
    .map(wholeText)
    .join("");
}

function time(seconds: number, point: "," | "."): string {
  const ms = Math.round(seconds * 1_000);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const rest = String(ms % 1_000).padStart(3, "0");
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${point}${rest}`;
}
