import type { Turn } from "#core/index.ts";

/** An empty turn that tests fill in. */
export const silentTurn: Turn = {
  stream: false,
  system: [],
  messages: [],
  tools: [],
  toolChoice: null,
  parallelToolCalls: null,
  outputTokensMax: null,
  temperature: null,
  topP: null,
  topK: null,
  presencePenalty: null,
  frequencyPenalty: null,
  seed: null,
  stop: [],
  choices: 1,
  format: null,
  reasoning: null,
  verbosity: null,
  userId: null,
  metadata: null,
  cacheKey: null,
  serviceTier: null,
};
