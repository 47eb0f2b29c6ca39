import { soundForm } from "@sluice/contract/words";
import { Failure, noUsage } from "#core/index.ts";
import type { FormFacts, ReplyFacts, UsageReading, Wire } from "../dialect.ts";
import { FormReader, modelFormBytesMax } from "../form/form-reader.ts";
import { OPEN_OBJECT, skipSpace } from "../json/cursor.ts";
import { countOf, numberOf, objectOf } from "../json/value.ts";
import { TypedEventsTap } from "../stream/typed-events.ts";
import { replyReader } from "./json-calls.ts";

/** Reads usage from JSON, or the length from the last time of subtitles. Plain text has neither. */
function readTranscript(body: Uint8Array): ReplyFacts {
  if (body[skipSpace(body, 0)] === OPEN_OBJECT) {
    const facts = readJson(body);
    return facts.usage === null ? { ...facts, outputEstimate: Math.ceil(body.length / 4) } : facts;
  }
  const reading = secondsUsage(lastTime(body));
  return {
    usage: reading === null ? null : { ...reading, raw: "{}" },
    errorMessage: null,
    outputEstimate: Math.ceil(body.length / 4),
    id: null,
  };
}

const readJson = replyReader(
  ["text", "segments"],
  ["usage", "duration"],
  (member) => transcriptUsage(member("usage")) ?? secondsUsage(member("duration")),
);

/** The end of the last line of SRT or WebVTT: `00:01:02,500 --> 00:01:04,000`. */
function lastTime(body: Uint8Array): number | null {
  const text = new TextDecoder().decode(body.subarray(Math.max(0, body.length - tailBytes)));
  const arrow = text.lastIndexOf(" --> ");
  const found = arrow === -1 ? null : timePattern.exec(text.slice(arrow + 5, arrow + 25));
  if (found === null) return null;
  return Number(found[1] ?? 0) * 3_600 + Number(found[2]) * 60 + Number(found[3]) + Number(found[4]) / 1_000;
}

const timePattern = /^(?:(\d{1,4}):)?(\d{2}):(\d{2})[.,](\d{3})/;
const tailBytes = 16_384;

/** `{type:"duration",seconds}` or tokens. Null without either. */
export function transcriptUsage(reported: unknown): Pick<UsageReading, "usage"> | null {
  const usage = objectOf(reported);
  const seconds = secondsUsage(usage["seconds"]);
  if (seconds !== null) return seconds;
  const input = countOf(usage["input_tokens"]) ?? countOf(usage["prompt_tokens"]);
  const output = countOf(usage["output_tokens"]) ?? countOf(usage["completion_tokens"]);
  if (input === null && output === null) return null;
  const details = objectOf(usage["input_token_details"]);
  const text = Math.min(countOf(details["text_tokens"]) ?? 0, input ?? 0);
  // Tokens of unknown kind count as audio. Mistral also reports seconds.
  const audioSeconds = Math.max(0, Math.ceil(numberOf(usage["prompt_audio_seconds"]) ?? 0));
  return {
    usage: { ...noUsage, inputUncached: text, audioInput: (input ?? 0) - text, output: output ?? 0, audioSeconds },
  };
}

/** Billed in whole seconds. */
function secondsUsage(seconds: unknown): Pick<UsageReading, "usage"> | null {
  const length = numberOf(seconds);
  if (length === null || !(length >= 0) || !Number.isFinite(length)) return null;
  return { usage: { ...noUsage, audioSeconds: Math.ceil(length) } };
}

/** Source: OpenAI API reference, "Create transcription" and "Create translation". */
export const transcriptionsWire: Wire = {
  readRequest() {
    throw formRequired();
  },
  requestEdits() {
    throw formRequired();
  },
  readReply: readTranscript,
  tapStream: () => new TypedEventsTap({ content: /\.(?:delta|segment)$/, end: /\.done$/, usageOf: transcriptUsage }),
};

function formRequired(): Failure {
  return new Failure(
    "unsupported_media_type",
    "A sound is sent as a form: `multipart/form-data` with `file` and `model`.",
  );
}

/** Common formats have at least 32 kbit/s for speech, all at least 6 kbit/s. */
const likelyBytesPerSecond = 4_000;
const leastBytesPerSecond = 750;

/** Likely and longest duration in seconds, by a WAV header or by size alone. */
function audioSeconds(begin: Uint8Array, bytes: number) {
  const rate = waveBytesPerSecond(begin);
  if (rate !== null) {
    const seconds = Math.max(1, Math.ceil(bytes / rate));
    return { likely: seconds, most: seconds + 1 };
  }
  return {
    likely: Math.max(1, Math.ceil(bytes / likelyBytesPerSecond)),
    most: Math.max(1, Math.ceil(bytes / leastBytesPerSecond)) + 1,
  };
}

/** Null if it is no WAV file or its rate is impossible. */
function waveBytesPerSecond(begin: Uint8Array): number | null {
  const bytes = Buffer.from(begin.buffer, begin.byteOffset, begin.byteLength);
  if (bytes.length < 36 || bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WAVE") {
    return null;
  }
  const format = bytes.indexOf("fmt ", 12, "latin1");
  if (format === -1 || format + 20 > bytes.length) return null;
  const rate = bytes.readUInt32LE(format + 16);
  return rate < leastBytesPerSecond || rate > ratesMax ? null : rate;
}

/** Eight channels of 32 bits at 192 kHz. */
const ratesMax = 8 * 4 * 192_000;

/** Tokens per second by the vendor's prices, and the most seen. */
const tokensPerSecond = 17;
const tokensPerSecondMax = 25;

export class TranscriptionFormReader extends FormReader {
  constructor() {
    super(soundForm, modelFormBytesMax);
  }

  /** Throws Failure missing_required_parameter or invalid_request. */
  facts(): FormFacts {
    this.check();
    const { likely, most } = audioSeconds(this.fileBegin, this.fileBytes);
    const promptBytes = this.sizeOf("prompt");
    return this.factsWith({
      inputEstimate: likely * tokensPerSecond + Math.ceil(promptBytes / 4),
      inputTokensMax: most * tokensPerSecondMax + promptBytes,
      estimatedUse: { likely: { audioSeconds: likely }, most: { audioSeconds: most } },
    });
  }
}
