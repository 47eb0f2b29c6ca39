import type { PassedEndpoint } from "../passed-suite.ts";

/** No WAV, so that its length goes by its size. */
export const sound = new Blob([new Uint8Array(32_000).fill(7)], { type: "audio/mpeg" });

export const transcriptionsEndpoint: PassedEndpoint = {
  path: "/v1/audio/transcriptions",
  endpoint: "transcriptions",
  type: "transcription",
  price: { audio_second: 0.0001, audio_input: 6, output: 10 },
  form: true,
  body: { file: sound, response_format: "json" },
  broken: [
    ["a form without a file", { prompt: "x" }, "file"],
    ["a form without a model", { file: sound, model: undefined }, "model"],
    ["a stream that is no switch", { file: sound, stream: "perhaps" }, "stream"],
  ],
  // Two seconds as the upstream counts them, eight as we guess them.
  usage: { audioInput: 20 },
  lost: { audioSeconds: 8 },
  noAnswer: { body: '{"error":{"message":"no"}}' },
};
