import type { ForwardedEndpoint } from "../forwarding-suite.ts";

/** Not a WAV file, so its duration is estimated from its size. */
export const sound = new Blob([new Uint8Array(32_000).fill(7)], { type: "audio/mpeg" });

export const transcriptionsEndpoint: ForwardedEndpoint = {
  path: "/v1/audio/transcriptions",
  endpoint: "transcriptions",
  type: "transcription",
  price: { audio_second: 0.0001, audio_input: 6, output: 10 },
  form: true,
  body: { file: sound, response_format: "json" },
  invalidBodies: [
    ["a form without a file", { prompt: "x" }, "file"],
    ["a form without a model", { file: sound, model: undefined }, "model"],
    ["a stream that is not a boolean", { file: sound, stream: "perhaps" }, "stream"],
  ],
  // The upstream counts two seconds; the gateway estimates eight.
  usage: { audioInput: 20 },
  usageWhenLost: { audioSeconds: 8 },
  invalidAnswer: { body: '{"error":{"message":"no"}}' },
};
