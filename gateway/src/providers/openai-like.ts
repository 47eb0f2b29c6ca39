import type { Lane, ProviderKind, StarterModel } from "./kind.ts";
import { authorizeBearer, classifyOpenAiShaped } from "./openai-shaped.ts";

export interface OpenAiLike {
  readonly id: string;
  readonly title: string;
  readonly baseUrl: string | null;
  /** The vendor's name in its variables: NAME_API_KEY, NAME_BASE_URL. null: not made from the environment. */
  readonly variable: string | null;
  readonly lanes: readonly Lane[];
  readonly rootOf?: NonNullable<ProviderKind["rootOf"]>;
  readonly video?: NonNullable<ProviderKind["video"]>;
  readonly library?: NonNullable<ProviderKind["library"]>;
  readonly starterModels?: readonly StarterModel[];
  readonly callerHeaders?: readonly string[];
  readonly memberRules?: NonNullable<ProviderKind["memberRules"]>;
  readonly priceFactors?: NonNullable<ProviderKind["priceFactors"]>;
  readonly costSource?: NonNullable<ProviderKind["costSource"]>;
  readonly reasoning?: NonNullable<ProviderKind["reasoning"]>;
  readonly form?: NonNullable<ProviderKind["form"]>;
}

/** A vendor that takes a bearer and refuses in OpenAI's shape: only what differs has to be said. */
export function openaiLike({ variable, starterModels, ...rest }: OpenAiLike): ProviderKind {
  return {
    ...rest,
    envKey: variable === null ? null : `${variable}_API_KEY`,
    envBaseUrl: variable === null ? null : `${variable}_BASE_URL`,
    authorize: authorizeBearer,
    classify: classifyOpenAiShaped,
    starterModels: starterModels ?? [],
  };
}
