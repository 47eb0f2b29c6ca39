import {
  type CostSource,
  oncePerObject,
  type PriceTerms,
  type Provider,
  usualFactors,
  usualTerms,
} from "#core/index.ts";
import type { ProviderKind } from "./kind.ts";
import { anthropic } from "./kinds/anthropic.ts";
import { ark, byteplus } from "./kinds/ark.ts";
import { azureOpenai } from "./kinds/azure-openai.ts";
import { bedrock } from "./kinds/bedrock.ts";
import { cohere } from "./kinds/cohere.ts";
import { dashscope } from "./kinds/dashscope.ts";
import { deepseek } from "./kinds/deepseek.ts";
import { demo } from "./kinds/demo.ts";
import { fal } from "./kinds/fal.ts";
import { fireworks } from "./kinds/fireworks.ts";
import { gemini } from "./kinds/gemini.ts";
import { groq } from "./kinds/groq.ts";
import { jina } from "./kinds/jina.ts";
import { kling } from "./kinds/kling.ts";
import { minimax } from "./kinds/minimax.ts";
import { mistral } from "./kinds/mistral.ts";
import { moonshot } from "./kinds/moonshot.ts";
import { ollama } from "./kinds/ollama.ts";
import { openai } from "./kinds/openai.ts";
import { openaiCompatible } from "./kinds/openai-compatible.ts";
import { openrouter } from "./kinds/openrouter.ts";
import { replicate } from "./kinds/replicate.ts";
import { runway } from "./kinds/runway.ts";
import { together } from "./kinds/together.ts";
import { vertex } from "./kinds/vertex.ts";
import { vidu } from "./kinds/vidu.ts";
import { vllm } from "./kinds/vllm.ts";
import { xai } from "./kinds/xai.ts";
import { zhipu } from "./kinds/zhipu.ts";
import { passesMember } from "./settings.ts";

/** Every provider type. A new one is a file and a line here. */
export const providerKinds: readonly ProviderKind[] = [
  openai,
  openaiCompatible,
  anthropic,
  gemini,
  azureOpenai,
  bedrock,
  vertex,
  ark,
  byteplus,
  deepseek,
  mistral,
  xai,
  groq,
  together,
  fireworks,
  openrouter,
  moonshot,
  zhipu,
  dashscope,
  minimax,
  cohere,
  jina,
  kling,
  vidu,
  runway,
  fal,
  replicate,
  ollama,
  vllm,
  demo,
];

const byId: ReadonlyMap<string, ProviderKind> = new Map(providerKinds.map((kind) => [kind.id, kind]));

export function providerKind(id: string): ProviderKind | null {
  return byId.get(id) ?? null;
}

/** How an account charges: its own setting, else its provider type's. */
export function priceTermsOf({ kind, settings }: Pick<Provider, "kind" | "settings">): PriceTerms {
  const providerType = providerKind(kind);
  if (providerType === null) return usualTerms;
  const terms = termsOf(providerType);
  const configured = settings["cost_source"];
  return terms[configured === "price" || configured === "vendor" ? configured : (providerType.costSource ?? "price")];
}

const termsOf = oncePerObject(({ priceFactors = [], routers }: ProviderKind): Record<CostSource, PriceTerms> => {
  const factors = [...priceFactors, ...usualFactors];
  const all = routers === undefined ? { factors } : { factors, routers };
  return { price: { costSource: "price", ...all }, vendor: { costSource: "vendor", ...all } };
});

/** Whether a call may continue a message thread. An account without threads would answer only the last message. */
export function keepsThreads(provider: Provider, kind: ProviderKind): boolean {
  return kind.keepsThreads === true || passesMember(provider, "thread");
}
