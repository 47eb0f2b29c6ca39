import { formatBytes } from "../../../client/format.ts";
import { Problem, problemOfBody } from "../../../client/problem.ts";
import { t } from "../../../language/areas/playground.ts";
import { type CallInfo, callInfoOf, type KeyCall } from "../../media/key-call.ts";
import { answerEvents, isEventStream } from "../answer-events.ts";

export const transcriptFormats = ["json", "text", "srt", "vtt", "verbose_json"] as const;
export type TranscriptFormat = (typeof transcriptFormats)[number];

/** OpenAI's maximum; other vendors report their own limits. */
const soundBytesMax = 25_000_000;
export const soundTypes = ".flac,.mp3,.mp4,.mpeg,.mpga,.m4a,.ogg,.oga,.opus,.wav,.webm,audio/*";

export const transcriptionsPath = "/v1/audio/transcriptions";
export const translationsPath = "/v1/audio/translations";

export interface TranscriptionDraft {
  readonly file: File | null;
  /** Translates into English instead of transcribing the original language. */
  readonly translate: boolean;
  /** ISO-639-1; empty leaves it to the model. */
  readonly language: string;
  readonly prompt: string;
  readonly format: TranscriptFormat;
  readonly stream: boolean;
}

export const plainTranscription: TranscriptionDraft = {
  ...{ file: null, translate: false, language: "", prompt: "", format: "json", stream: true },
};

export interface Transcript {
  readonly fileName: string;
  readonly text: string;
  readonly info: CallInfo;
  readonly firstTokenMs: number | null;
  readonly totalMs: number | null;
}

/** Why a file cannot be sent; null if it can. The model checks the format. */
export function soundProblem(file: Pick<File, "name" | "size">): string | null {
  if (file.size === 0) return t("playground.files.empty", { name: file.name });
  if (file.size <= soundBytesMax) return null;
  return t("playground.files.tooLarge", {
    name: file.name,
    size: formatBytes(file.size),
    most: formatBytes(soundBytesMax),
  });
}

/** The form fields except the file. Translations are always into English and never streamed. */
export function transcriptionFields(model: string, draft: TranscriptionDraft): Readonly<Record<string, string>> {
  const { translate, language, prompt, format, stream } = draft;
  return {
    model,
    response_format: format,
    ...(translate || language.trim() === "" ? {} : { language: language.trim() }),
    ...(prompt.trim() === "" ? {} : { prompt: prompt.trim() }),
    ...(streams({ translate, format, stream }) ? { stream: "true" } : {}),
  };
}

/** Subtitles and words with timestamps are not streamed. */
export function streams({ translate, format, stream }: Pick<TranscriptionDraft, "translate" | "format" | "stream">) {
  return stream && !translate && (format === "json" || format === "text");
}

interface TranscriptionRequest {
  readonly path: string;
  readonly file: File;
  readonly fields: Readonly<Record<string, string>>;
}

/** Sends audio and reports the text as it arrives. Some models ignore the request to stream. */
export async function transcribe(
  call: KeyCall,
  { path, file, fields }: TranscriptionRequest,
  { signal, show }: { readonly signal: AbortSignal; readonly show: (part: Transcript) => void },
): Promise<Transcript> {
  const startedMs = performance.now();
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", file, file.name);
  const response = await call.send(path, { method: "POST", signal, body: form });
  const info = callInfoOf(response);
  const begun: Transcript = { fileName: file.name, text: "", info, firstTokenMs: null, totalMs: null };
  let sofar = begun;
  if (isEventStream(response)) {
    for await (const event of answerEvents(response, isLast)) {
      const text = isLast(event) ? (textIn(event, "text") ?? sofar.text) : sofar.text + (textIn(event, "delta") ?? "");
      const firstTokenMs = sofar.firstTokenMs ?? (text === "" ? null : performance.now() - startedMs);
      sofar = { ...sofar, text, firstTokenMs };
      show(sofar);
    }
  } else {
    sofar = { ...begun, text: readWhole(await response.text(), info.requestId) };
  }
  return { ...sofar, totalMs: performance.now() - startedMs };
}

/** If the JSON contains only the text, the text is shown; with more fields, the whole JSON. Any other format is shown unchanged. */
export function readWhole(body: string, requestId: string | null): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return body;
  }
  const failed = problemOfBody(value, requestId);
  if (failed !== null) throw failed;
  if (value === null || typeof value !== "object") return body;
  const text = textIn(value, "text");
  if (text === null) throw new Problem("upstream_error", t("playground.transcription.empty"), requestId);
  return "segments" in value || "words" in value ? JSON.stringify(value, null, 2) : text;
}

const isLast = (event: unknown) => textIn(event, "type") === "transcript.text.done";

function textIn(value: unknown, name: string): string | null {
  const text = value !== null && typeof value === "object" ? Reflect.get(value, name) : null;
  return typeof text === "string" ? text : null;
}
