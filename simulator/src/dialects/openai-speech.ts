import { silentAnswer } from "../answer.ts";
import { filledBytes } from "../byte-source.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import { parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { tinyWav } from "../tiny-wav.ts";
import { countWords } from "../words.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";

/** Speech, with any base path: 4,000 bytes per word, as a file or as events. */
export const openAiSpeech: Dialect = {
  id: "openai-speech",
  matches: ({ method, path }) => method === "POST" && path.endsWith("/audio/speech"),
  read,
  headers: openAiHeaders,
  error: openAiError,
};

const bytesPerWord = 4_000;
const tokensPerWord = 5;

function read(request: SimulatorRequest): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "We could not parse the JSON body of your request.");
  const modelParts = splitModel(stringOf(body["model"]));
  if (modelParts.model === "") throw new Refusal(400, "you must provide a model parameter");
  const promptParts = splitMarker(stringOf(body["input"]));
  if (promptParts.text === "") throw new Refusal(400, "Missing required parameter: 'input'.", { param: "input" });
  const words = countWords(promptParts.text);
  const format = stringOf(body["response_format"]) || "mp3";
  const stream = body["stream_format"] === "sse";
  const parsed = {
    ...bareRequest(modelParts.model, words),
    stream,
    script: { ...modelParts.script, ...promptParts.script },
  };
  const sound = filledBytes(mediaTypes[format] ?? "audio/mpeg", tinyWav, Math.max(1, words) * bytesPerWord);
  return {
    parsed,
    ping: null,
    compose: () => silentAnswer(words),
    ...(stream ? {} : { bytes: () => sound }),
    whole: () => "",
    events: () => events(sound.piece(0, sound.size), words),
    errorEvent: (refusal, requestId) => ({ data: openAiError(refusal, requestId), tokens: 0, role: "error" }),
  };
}

const mediaTypes: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};

function* events(sound: Uint8Array, words: number): Iterable<DialectEvent> {
  for (let at = 0; at < sound.length; at += bytesPerWord) {
    const audio = Buffer.from(sound.subarray(at, at + bytesPerWord)).toString("base64");
    yield { data: JSON.stringify({ type: "speech.audio.delta", audio }), tokens: 0, role: "content" };
  }
  const output = words * tokensPerWord;
  const usage = { input_tokens: words, output_tokens: output, total_tokens: words + output };
  yield { data: JSON.stringify({ type: "speech.audio.done", usage }), tokens: 0, role: "last" };
}
