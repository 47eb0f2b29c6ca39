import { expect, test } from "bun:test";
import { noUsage } from "#core/index.ts";
import { transcriptUsage } from "./transcriptions.ts";

test("ignores negative usage", () => {
  const reported = { prompt_tokens: 7, completion_tokens: 3, prompt_audio_seconds: -90 };
  expect(transcriptUsage(reported)?.usage).toEqual({ ...noUsage, audioInput: 7, output: 3 });
  expect(transcriptUsage({ ...reported, prompt_audio_seconds: 1.2 })?.usage.audioSeconds).toBe(2);
  expect(transcriptUsage({ seconds: -5 })).toBeNull();
});
