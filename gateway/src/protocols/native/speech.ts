import { requestFields } from "@sluice/contract/words";
import { noUsage } from "#core/index.ts";
import type { RequestFacts, UsageReading, Wire } from "../dialect.ts";
import { readSpan } from "../json/scan.ts";
import { countOf, objectOf } from "../json/value.ts";
import { RawTap } from "../raw-wire.ts";
import { readSmall } from "../request/members.ts";
import { idInObject } from "../request/named-objects.ts";
import { BodyReader, modelEdit } from "../request/request-body.ts";
import { TypedEventsTap } from "../stream/typed-events.ts";
import { nativeFacts, replyReader } from "./json-calls.ts";

/** Passes audio and estimates its tokens from its size, about twenty a second. */
class SpeechTap extends RawTap {
  readonly #input: number;
  readonly #bytesPerToken: number;
  #bytes = 0;

  constructor({ inputEstimate }: Pick<RequestFacts, "inputEstimate">, mediaType: string) {
    super();
    this.#input = inputEstimate;
    this.#bytesPerToken = bytesPerTokenByType.find(([pattern]) => pattern.test(mediaType))?.[1] ?? mp3BytesPerToken;
  }

  protected override listen(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
  }

  override get contentSeen(): boolean {
    return this.#bytes > 0;
  }

  override get usage(): UsageReading | null {
    const audioOutput = Math.ceil(this.#bytes / this.#bytesPerToken);
    return { usage: { ...noUsage, inputUncached: this.#input, audioOutput }, raw: "{}" };
  }

  override complete(): boolean {
    return this.#bytes > 0;
  }
}

/** MP3 at 128 kbit/s. */
const mp3BytesPerToken = 800;
/** Uncompressed audio has 24 kHz and 16 bits. */
const bytesPerTokenByType: readonly (readonly [RegExp, number])[] = [
  [/wav|pcm|l16|octet-stream/i, 2_400],
  [/flac/i, 1_200],
  [/opus|ogg|webm/i, 200],
  [/aac|mp4/i, 500],
];

const bodies = new BodyReader(requestFields.speech, ["instructions", "stream_format", "user", "voice"]);

/** Answers with audio, or with events that contain it. Source: OpenAI API reference, "Create speech". */
export const speechWire: Wire = {
  readRequest(bytes) {
    const body = bodies.read(bytes);
    const facts = nativeFacts(body, body.estimate("input", "instructions"));
    const input = body.get("input");
    const format = body.get("stream_format");
    facts.stream = format !== undefined && readSmall(bytes, format) === "sse";
    // The model limits the tokens of its output.
    facts.outputTokensMax = null;
    facts.objects = idInObject(bytes, body.get("voice"), "voice");
    const characters = input === undefined ? 0 : charactersOf(String(readSpan(bytes, input)));
    facts.estimatedUse = { likely: { characters }, most: { characters } };
    // Here `speed` is how fast the voice speaks.
    const choosing = facts.governed?.filter((name) => name !== "speed");
    facts.governed = choosing?.length === 0 ? undefined : choosing;
    return facts;
  },
  requestEdits: modelEdit,
  smallestRequest: (model) => ({ model, input: "ok", voice: "alloy" }),
  readReply: replyReader(["audio", "data"], ["usage"], (member) => speechUsage(member("usage"))),
  tapStream: () => new TypedEventsTap({ content: /\.delta$/, end: /\.done$/, usageOf: speechUsage }),
  tapBytes: (facts, mediaType) => new SpeechTap(facts, mediaType),
};

/** Vendors count a surrogate pair as one. */
function charactersOf(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) count--;
  return Math.max(1, count);
}

function speechUsage(reported: unknown): Pick<UsageReading, "usage"> | null {
  const usage = objectOf(reported);
  const input = countOf(usage["input_tokens"]);
  const output = countOf(usage["output_tokens"]);
  const characters = countOf(usage["characters"]);
  if (input === null && output === null && characters === null) return null;
  return {
    usage: { ...noUsage, inputUncached: input ?? 0, audioOutput: output ?? 0, characters: characters ?? 0 },
  };
}
