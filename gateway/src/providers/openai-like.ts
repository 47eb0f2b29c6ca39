import type { Lane, ProviderKind } from "./kind.ts";
import { authorizeBearer, classifyOpenAiShaped } from "./openai-shaped.ts";

interface OpenAiLike extends Partial<Omit<ProviderKind, "id" | "title" | "baseUrl" | "lanes">> {
  readonly id: string;
  readonly title: string;
  readonly baseUrl: string | null;
  /** The vendor's name in its variables: NAME_API_KEY, NAME_BASE_URL. null: not made from the environment. */
  readonly variable: string | null;
  readonly lanes: readonly Lane[];
}

/** A vendor that takes a bearer and refuses in OpenAI's shape: only what differs has to be said. */
export function openaiLike({ variable, ...rest }: OpenAiLike): ProviderKind {
  return {
    envKey: variable === null ? null : `${variable}_API_KEY`,
    envBaseUrl: variable === null ? null : `${variable}_BASE_URL`,
    authorize: authorizeBearer,
    classify: classifyOpenAiShaped,
    starterModels: [],
    ...rest,
  };
}
