import type { VendorIcon } from "./icons.ts";

/** The logo of a provider type. */
export function vendorOfKind(kind: string): VendorIcon | null {
  return byKind[kind] ?? null;
}

/**
 * The logo of a model by its name: `gpt-5`, `claude-sonnet-5`, `qwen/qwen3-coder`. Applications may call a model under any name, so its
 * owner and its first upstream model are tried too.
 */
export function vendorOfModel(...names: readonly (string | null | undefined)[]): VendorIcon | null {
  for (const name of names) {
    if (name === null || name === undefined) continue;
    const found = byModel.find(([pattern]) => pattern.test(name));
    if (found !== undefined) return found[1];
  }
  return null;
}

const byKind: Readonly<Record<string, VendorIcon>> = {
  anthropic: "anthropic",
  ark: "bytedance",
  "azure-openai": "azure",
  bedrock: "aws",
  byteplus: "bytedance",
  cohere: "cohere",
  dashscope: "qwen",
  deepseek: "deepseek",
  fal: "fal",
  fireworks: "fireworks",
  gemini: "gemini",
  groq: "groq",
  jina: "jina",
  kling: "kling",
  minimax: "minimax",
  mistral: "mistral",
  moonshot: "kimi",
  ollama: "ollama",
  openai: "openai",
  openrouter: "openrouter",
  replicate: "replicate",
  runway: "runway",
  together: "together",
  vertex: "vertex",
  vidu: "vidu",
  vllm: "vllm",
  xai: "xai",
  zhipu: "zhipu",
};

/** Families of models. A family may be anywhere in the name, but only as a whole word: not `o3` in `foo3`. */
const byModel: readonly (readonly [RegExp, VendorIcon])[] = (
  [
    ["claude|anthropic", "claude"],
    [
      "gpt|chatgpt|openai(?!-compatible)|o[134]|dall-e|whisper|sora|text-embedding-(?:3|ada)|omni-moderation|davinci|codex",
      "openai",
    ],
    ["gemini|imagen|veo|google", "gemini"],
    ["gemma", "gemma"],
    ["grok|xai", "xai"],
    ["deepseek", "deepseek"],
    ["qwen|qwq|qvq|wan|alibaba", "qwen"],
    ["llama|meta", "meta"],
    ["mi[sx]tral|codestral|ministral|magistral|devstral|pixtral|voxtral", "mistral"],
    ["kimi|moonshot", "kimi"],
    ["glm|chatglm|cogview|cogvideox?|zhipu|zai|z-ai", "zhipu"],
    ["doubao|seedance|seedream", "doubao"],
    ["minimax|abab|hailuo", "minimax"],
    ["command|cohere|embed-(?:english|multilingual|v4)|rerank-(?:english|multilingual|v[34])|aya", "cohere"],
    ["jina", "jina"],
    ["nova|titan|amazon", "nova"],
    ["phi|microsoft", "microsoft"],
    ["nemotron|nvidia", "nvidia"],
    ["hunyuan|tencent", "hunyuan"],
    ["ernie|wenxin|baidu", "baidu"],
    ["yi", "yi"],
    ["flux|black-forest-labs", "flux"],
    ["stable-diffusion|sd3|sdxl|stability", "stability"],
    ["kling", "kling"],
    ["vidu", "vidu"],
    ["runway|gen-?[34]", "runway"],
  ] as const
).map(([names, icon]) => [new RegExp(`(?<![a-z])(?:${names})(?![a-z])`, "i"), icon]);
