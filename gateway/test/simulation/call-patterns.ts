import { type Deployment, defaultTimeouts, type Model, type Provider, usdToPico } from "#core/index.ts";
import {
  anthropicMessages,
  anthropicMessagesCodec,
  anthropicMessagesWire,
  type EndpointProtocol,
  endpointProtocols,
  openaiChat,
  openaiChatCodec,
  openaiChatWire,
  openaiResponses,
  openaiResponsesCodec,
  openaiResponsesWire,
} from "#protocols/index.ts";

/** How some callers call: their endpoint and model, and how a complete and a broken stream end. */
export interface CallPattern {
  readonly protocol: EndpointProtocol;
  readonly model: Model;
  readonly goodEnd: RegExp;
  readonly badEnd: RegExp;
  body(streamed: boolean, background: boolean): string;
}

const provider = (id: string, kind: string, endpoints: readonly string[]): Provider => ({
  id,
  kind,
  baseUrl: "http://upstream.example/v1",
  secret: null,
  allowPrivateNetwork: true,
  timeouts: defaultTimeouts,
  disconnect: id === "draining" ? "drain" : "cancel",
  settings: { endpoints },
  enabled: true,
});

export const providers: readonly Provider[] = [
  provider("first", "openai-compatible", ["chat"]),
  provider("draining", "openai-compatible", ["chat"]),
  provider("spare", "openai-compatible", ["chat"]),
  provider("storing", "openai", ["responses"]),
  provider("also-storing", "openai", ["responses"]),
  provider("google", "gemini", ["interactions"]),
  provider("also-google", "gemini", ["interactions"]),
];

function deployments(name: string, providerIds: readonly string[]): readonly Deployment[] {
  return providers
    .filter(({ id }) => providerIds.includes(id))
    .map((one) => ({
      id: `${name} on ${one.id}`,
      provider: one,
      upstreamModel: "m",
      priority: one.id === "spare" ? 2 : 1,
      weight: 100,
      enabled: true,
      contextWindow: null,
    }));
}

const model = (name: string, providerIds: readonly string[]): Model => ({
  name,
  type: "chat",
  ownedBy: "us",
  createdAt: 0,
  deployments: deployments(name, providerIds),
  fallbacks: [],
  contextWindow: null,
  price: {
    id: `prc_${name}`,
    model: name,
    table: { inputUncached: usdToPico(1.25, "million"), output: usdToPico(10, "million") },
    effectiveFrom: 0,
  },
});

const chatProviders = ["first", "draining", "spare"];

const chatPattern: CallPattern = {
  protocol: {
    endpoint: "chat",
    wireDialect: "openai-chat",
    dialect: openaiChat,
    wire: openaiChatWire,
    codec: openaiChatCodec,
  },
  model: model("chat", chatProviders),
  goodEnd: /data: \[DONE\]\n\n$/,
  badEnd: /"error"/,
  body: (streamed) => `{"model":"chat","messages":[{"role":"user","content":"x"}],"stream":${streamed}}`,
};

const messagesPattern: CallPattern = {
  protocol: {
    endpoint: "messages",
    wireDialect: "anthropic-messages",
    dialect: anthropicMessages,
    wire: anthropicMessagesWire,
    codec: anthropicMessagesCodec,
  },
  model: model("messages", chatProviders),
  goodEnd: /event: message_stop\n.*\n\n$/,
  badEnd: /event: error\n/,
  body: (streamed) =>
    `{"model":"messages","max_tokens":99,"messages":[{"role":"user","content":"x"}],"stream":${streamed}}`,
};

const responsesProtocol: EndpointProtocol = {
  endpoint: "responses",
  wireDialect: "openai-responses",
  dialect: openaiResponses,
  wire: openaiResponsesWire,
  codec: openaiResponsesCodec,
};

const translatedPattern: CallPattern = {
  protocol: responsesProtocol,
  model: model("translated", chatProviders),
  goodEnd: /event: response\.completed\n.*\n\n$/,
  badEnd: /event: response\.failed\n/,
  body: (streamed) => `{"model":"translated","input":"x","stream":${streamed}}`,
};

/** The only pattern whose answers are stored, because its upstreams have the same dialect. */
export const responsesPattern: CallPattern = {
  protocol: responsesProtocol,
  model: model("stored", ["storing", "also-storing"]),
  goodEnd: /event: response\.completed\n.*\n\n$/,
  badEnd: /event: response\.failed\n/,
  body: (streamed, background) => `{"model":"stored","input":"x","stream":${streamed},"background":${background}}`,
};

const interactionsPattern = (name: string, providerIds: readonly string[]): CallPattern => ({
  protocol: endpointProtocols.interactions,
  model: model(name, providerIds),
  goodEnd: /event: interaction\.completed\n.*\n\ndata: \[DONE\]\n\n$/,
  badEnd: /event: error\n/,
  body: (streamed) => `{"model":"${name}","input":"x","stream":${streamed}}`,
});

export const callPatterns: readonly CallPattern[] = [
  chatPattern,
  messagesPattern,
  translatedPattern,
  responsesPattern,
  interactionsPattern("interactions", ["google", "also-google"]),
  interactionsPattern("translated-interactions", chatProviders),
];
