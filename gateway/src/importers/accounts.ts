import type { ProviderConfig } from "@sluice/contract/config-file";
import type { ImportProduct } from "#ports/index.ts";
import { UniqueNames } from "./names.ts";

/** Without an id: accounts that are equal become one provider. */
export type Account = Omit<ProviderConfig, "id">;

export class Accounts {
  readonly #product: ImportProduct;
  readonly #names = new UniqueNames();
  readonly #ids = new Map<string, string>();
  readonly providers: ProviderConfig[] = [];

  constructor(product: ImportProduct) {
    this.#product = product;
  }

  /** The id of the provider. */
  idOf(account: Account): string {
    const text = JSON.stringify(account);
    const existing = this.#ids.get(text);
    if (existing !== undefined) return existing;
    const id = this.#names.take(`${this.#product}-${account.kind}`);
    this.#ids.set(text, id);
    this.providers.push({ id, ...account });
    return id;
  }
}

/** Provider types by the names that LiteLLM, Bifrost, Portkey and new-api give vendors. */
const kindByVendor: Readonly<Record<string, string>> = {
  openai: "openai",
  "text-completion-openai": "openai",
  azure: "azure-openai",
  azure_text: "azure-openai",
  azure_ai: "azure-openai",
  "azure-openai": "azure-openai",
  anthropic: "anthropic",
  bedrock: "bedrock",
  bedrock_converse: "bedrock",
  vertex: "vertex",
  vertex_ai: "vertex",
  vertex_ai_beta: "vertex",
  "vertex-ai": "vertex",
  gemini: "gemini",
  google: "gemini",
  deepseek: "deepseek",
  mistral: "mistral",
  "mistral-ai": "mistral",
  codestral: "mistral",
  xai: "xai",
  "x-ai": "xai",
  groq: "groq",
  together_ai: "together",
  "together-ai": "together",
  fireworks_ai: "fireworks",
  "fireworks-ai": "fireworks",
  fireworks: "fireworks",
  openrouter: "openrouter",
  moonshot: "moonshot",
  zai: "zhipu",
  zhipu: "zhipu",
  dashscope: "dashscope",
  minimax: "minimax",
  cohere: "cohere",
  cohere_chat: "cohere",
  jina_ai: "jina",
  jina: "jina",
  ollama: "ollama",
  ollama_chat: "ollama",
  vllm: "vllm",
  hosted_vllm: "vllm",
  volcengine: "ark",
  replicate: "replicate",
  fal_ai: "fal",
  runwayml: "runway",
};

/** Vendors without a separate provider type, with chat completions at this address. */
const addressByVendor: Readonly<Record<string, string>> = {
  perplexity: "https://api.perplexity.ai",
  "perplexity-ai": "https://api.perplexity.ai",
  cerebras: "https://api.cerebras.ai/v1",
  nvidia_nim: "https://integrate.api.nvidia.com/v1",
  sambanova: "https://api.sambanova.ai/v1",
  deepinfra: "https://api.deepinfra.com/v1/openai",
  hyperbolic: "https://api.hyperbolic.xyz/v1",
  nebius: "https://api.studio.nebius.ai/v1",
};

export interface VendorTarget {
  readonly kind: string;
  readonly address: string | null;
  /** The provider type with the vendor's list prices. The gateways that we import from charge them at any address. */
  readonly pricedAs: string;
}

/** The provider type of a vendor, and its address if the type has none. null: Sluice has no type for it. */
export function kindOfVendor(vendor: string, address: string | null): VendorTarget | null {
  const kind = kindByVendor[vendor];
  // A server that only speaks OpenAI's protocol.
  if (kind === "openai" && address !== null && URL.parse(address)?.hostname !== "api.openai.com") {
    return { kind: openAiCompatible, address, pricedAs: kind };
  }
  if (kind !== undefined) return { kind, address, pricedAs: kind };
  const at = address ?? addressByVendor[vendor] ?? null;
  return at === null ? null : { kind: openAiCompatible, address: at, pricedAs: openAiCompatible };
}

const openAiCompatible = "openai-compatible";
