import type { Lane, ProviderKind } from "./kind.ts";
import { authorizeBearer, classifyOpenAiShaped } from "./openai-shaped.ts";

interface KindDefinition extends Partial<Omit<ProviderKind, "id" | "title" | "baseUrl" | "lanes">> {
  readonly id: string;
  readonly title: string;
  readonly baseUrl: string | null;
  /** The prefix of NAME_API_KEY and NAME_BASE_URL. null: not created from the environment. */
  readonly variable: string | null;
  readonly lanes: readonly Lane[];
}

/** Completes a provider type. Default: a bearer token, OpenAI's errors and no starter models. */
export function defineKind({ variable, ...rest }: KindDefinition): ProviderKind {
  return {
    envKey: variable === null ? null : `${variable}_API_KEY`,
    envBaseUrl: variable === null ? null : `${variable}_BASE_URL`,
    authorize: authorizeBearer,
    classify: classifyOpenAiShaped,
    starterModels: [],
    ...rest,
  };
}
