/**
 * Retirement days (UTC) by provider type. Sources: developers.openai.com/api/docs/deprecations (22 April 2026),
 * platform.claude.com/docs/en/about-claude/model-deprecations. Other operators of these models have their own schedules.
 */
const retirements: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  openai: {
    "2026-02-17": ["chatgpt-4o-latest"],
    "2026-07-23": [
      "computer-use-preview",
      "computer-use-preview-2025-03-11",
      "gpt-4o-audio-preview-2024-12-17",
      "gpt-4o-mini-audio-preview-2024-12-17",
      "gpt-4o-mini-realtime-preview-2024-12-17",
      "gpt-4o-mini-search-preview-2025-03-11",
      "gpt-4o-mini-tts-2025-03-20",
      "gpt-4o-search-preview-2025-03-11",
      "gpt-5-chat-latest",
      "gpt-5-codex",
      "gpt-5.1-chat-latest",
      "gpt-5.1-codex",
      "gpt-5.1-codex-max",
      "gpt-5.1-codex-mini",
      "gpt-5.2-codex",
      "gpt-audio-mini-2025-10-06",
      "gpt-realtime-mini-2025-10-06",
      "o3-deep-research",
      "o3-deep-research-2025-06-26",
      "o4-mini-deep-research",
      "o4-mini-deep-research-2025-06-26",
    ],
    "2026-08-10": ["gpt-5.2-chat-latest", "gpt-5.3-chat-latest"],
    "2026-10-23": ["gpt-3.5-turbo", "gpt-3.5-turbo-0125", "gpt-4", "gpt-4-0613"],
  },
  anthropic: {
    "2025-07-21": ["claude-2.0", "claude-2.1", "claude-3-sonnet-20240229"],
    "2026-01-05": ["claude-3-opus-20240229"],
  },
};

const byKind: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  Object.entries(retirements).map(([kind, days]) => [
    kind,
    new Map(Object.entries(days).flatMap(([day, names]) => names.map((name) => [name, Date.parse(day)]))),
  ]),
);

/** The retirement date of a model in Unix milliseconds; null: unknown. */
export function retirementOf(kind: string, upstreamModel: string): number | null {
  return byKind.get(kind)?.get(upstreamModel.toLowerCase()) ?? null;
}
