/** A vendor by the number that new-api and one-api give its channels. */
interface ChannelType {
  /** Provider type. */
  readonly kind: string;
  /** If it differs from the provider type's. */
  readonly address?: string;
  /** Appended to the address of a channel, which has no path. */
  readonly path?: string;
}

const compatible = (address: string): ChannelType => ({ kind: "openai-compatible", address, path: "/v1" });

export const channelTypes: Readonly<Record<number, ChannelType>> = {
  1: { kind: "openai", path: "/v1" },
  3: { kind: "azure-openai" },
  4: { kind: "ollama", path: "/v1" },
  14: { kind: "anthropic" },
  16: { kind: "zhipu", address: "https://open.bigmodel.cn/api/paas/v4", path: "/api/paas/v4" },
  17: { kind: "dashscope", path: "/compatible-mode/v1" },
  20: { kind: "openrouter", path: "/v1" },
  24: { kind: "gemini" },
  25: { kind: "moonshot", address: "https://api.moonshot.cn/v1", path: "/v1" },
  26: { kind: "zhipu", address: "https://open.bigmodel.cn/api/paas/v4", path: "/api/paas/v4" },
  27: compatible("https://api.perplexity.ai"),
  31: compatible("https://api.lingyiwanwu.com/v1"),
  33: { kind: "bedrock" },
  34: { kind: "cohere", path: "/compatibility/v1" },
  35: { kind: "minimax", address: "https://api.minimaxi.com/v1", path: "/v1" },
  38: { kind: "jina", path: "/v1" },
  40: compatible("https://api.siliconflow.cn/v1"),
  41: { kind: "vertex" },
  42: { kind: "mistral", path: "/v1" },
  43: { kind: "deepseek" },
  45: { kind: "ark", path: "/api/v3" },
  46: compatible("https://qianfan.baidubce.com/v2"),
  47: compatible(""),
  48: { kind: "xai", path: "/v1" },
  50: { kind: "kling" },
  52: { kind: "vidu" },
  54: { kind: "ark", path: "/api/v3" },
  55: { kind: "openai", path: "/v1" },
  56: { kind: "replicate" },
};

/** Channels of type 8 have the whole address of chat completions. */
export const customType = 8;
