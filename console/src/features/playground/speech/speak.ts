import { Problem } from "../../../client/problem.ts";
import { t } from "../../../language/areas/playground.ts";
import { type CallInfo, callInfoOf, type KeyCall } from "../../media/key-call.ts";

export const soundFormats = ["mp3", "wav", "opus", "aac", "flac", "pcm"] as const;
export type SoundFormat = (typeof soundFormats)[number];

/** OpenAI's voices; voices of other vendors can be typed. */
export const voices = [
  "alloy",
  "ash",
  "ballad",
  "cedar",
  "coral",
  "echo",
  "fable",
  "marin",
  "nova",
  "onyx",
  "sage",
  "shimmer",
  "verse",
];

/** An hour of MP3. */
const soundBytesMax = 64_000_000;

export interface SpeechDraft {
  readonly text: string;
  readonly voice: string;
  readonly format: SoundFormat;
  /** Instructions on how to speak, for models that support them. */
  readonly instructions: string;
}

export const plainSpeech: SpeechDraft = { text: "", voice: "alloy", format: "mp3", instructions: "" };

export interface Spoken {
  readonly info: CallInfo;
  /** null while it is streaming. */
  readonly sound: Blob | null;
  readonly bytes: number;
  readonly format: SoundFormat;
  readonly firstTokenMs: number | null;
  readonly totalMs: number | null;
}

export function speechBody(model: string, { text, voice, format, instructions }: SpeechDraft) {
  return {
    model,
    input: text.trim(),
    voice: voice.trim(),
    response_format: format,
    ...(instructions.trim() === "" ? {} : { instructions: instructions.trim() }),
  };
}

/** Generates speech and reports the number of bytes received. */
export async function speak(
  call: KeyCall,
  body: ReturnType<typeof speechBody>,
  { signal, show }: { readonly signal: AbortSignal; readonly show: (part: Spoken) => void },
): Promise<Spoken> {
  const startedMs = performance.now();
  const response = await call.send("/v1/audio/speech", {
    method: "POST",
    signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const info = callInfoOf(response);
  const type = response.headers.get("content-type") ?? "audio/mpeg";
  const format = body.response_format;
  if (response.body === null) throw new Problem("upstream_truncated", t("playground.speech.empty"), info.requestId);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let sofar: Spoken = { info, sound: null, bytes: 0, format, firstTokenMs: null, totalMs: null };
  const reader = response.body.getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      pieces.push(piece.value);
      const bytes = sofar.bytes + piece.value.length;
      if (bytes > soundBytesMax) throw new Problem("upstream_error", t("playground.speech.tooLong"), info.requestId);
      sofar = { ...sofar, bytes, firstTokenMs: sofar.firstTokenMs ?? performance.now() - startedMs };
      show(sofar);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  if (sofar.bytes === 0) throw new Problem("upstream_truncated", t("playground.speech.empty"), info.requestId);
  return { ...sofar, sound: new Blob(pieces, { type }), totalMs: performance.now() - startedMs };
}
