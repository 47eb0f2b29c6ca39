import type { ProviderKind } from "./kind.ts";
import { authorizeBearer, classifyOpenAiShaped } from "./openai-shaped.ts";

interface KindDefinition extends Partial<Omit<ProviderKind, "id" | "title" | "baseUrl">> {
  readonly id: string;
  readonly title: string;
  readonly baseUrl: string | null;
  /** The prefix of NAME_API_KEY and NAME_BASE_URL. Absent: not created from the environment. */
  readonly variable?: string;
}

/** Completes a provider type. Default: a bearer token, OpenAI's errors, no lanes (then no model list) and no starter models. */
export function defineKind({ variable, lanes = [], ...rest }: KindDefinition): ProviderKind {
  return {
    envKey: variable === undefined ? null : `${variable}_API_KEY`,
    envBaseUrl: variable === undefined ? null : `${variable}_BASE_URL`,
    lanes,
    ...(lanes.length === 0 ? { listsModels: false } : {}),
    authorize: authorizeBearer,
    classify: classifyOpenAiShaped,
    starterModels: [],
    ...rest,
  };
}
