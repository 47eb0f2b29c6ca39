import { inputTokensOf, outputTokensOf, type Usage } from "#core/index.ts";

/** OpenAI's usage object. Its prompt includes what came from and went to caches; its completion includes thoughts. */
export function writeChatUsage(usage: Usage): object {
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  const prompt = inputTokensOf(usage);
  const completion = outputTokensOf(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead + usage.cacheReadAudio,
      cache_write_tokens: cacheWrite,
      audio_tokens: usage.audioInput,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning + usage.separateReasoning,
      audio_tokens: usage.audioOutput,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
