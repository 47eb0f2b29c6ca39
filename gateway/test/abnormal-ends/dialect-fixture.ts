import type { ModelConfig, ProviderConfig } from "@sluice/contract";
import type { RunningSimulator, Script } from "@sluice/simulator";
import type { DialectId } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { aliceKey, type Overrides, type StartedGateway, upstream } from "../started-gateway.ts";

/** One way to serve a call: an account of a provider type, and the API name in the ledger. */
export interface UpstreamCase {
  readonly id: string;
  readonly dialect: DialectId;
  readonly upstreamModel: string;
  readonly provider: (simulator: RunningSimulator) => ProviderConfig;
}

/** Upstreams of every API, all served by one simulator. */
export const upstreamCases: readonly UpstreamCase[] = [
  {
    id: "chat",
    dialect: "openai-chat",
    upstreamModel: "up-chat",
    provider: (simulator) => upstream("chat", simulator),
  },
  {
    id: "messages",
    dialect: "anthropic-messages",
    upstreamModel: "up-messages",
    provider: (simulator) => upstream("messages", simulator, { kind: "anthropic" }),
  },
  {
    id: "responses",
    dialect: "openai-responses",
    upstreamModel: "up-responses",
    provider: (simulator) =>
      upstream("responses", simulator, { kind: "openai", settings: { endpoints: ["responses", "responses-compact"] } }),
  },
  {
    id: "gemini",
    dialect: "gemini",
    upstreamModel: "gemini-2.5-up",
    provider: (simulator) =>
      upstream("gemini", simulator, {
        kind: "gemini",
        base_url: `${new URL(simulator.url).origin}/v1beta`,
        settings: { endpoints: ["generate"] },
      }),
  },
  {
    id: "interactions",
    dialect: "gemini-interactions",
    upstreamModel: "gemini-3-up-interactions",
    provider: (simulator) =>
      upstream("interactions", simulator, {
        kind: "gemini",
        base_url: `${new URL(simulator.url).origin}/v1beta`,
        settings: { endpoints: ["interactions"] },
      }),
  },
  {
    id: "converse",
    dialect: "bedrock-converse",
    upstreamModel: "us.amazon.nova-up-v1:0",
    provider: (simulator) => bedrock("converse", simulator),
  },
  {
    id: "invoke",
    dialect: "anthropic-messages",
    upstreamModel: "us.anthropic.claude-up-v1:0",
    provider: (simulator) => bedrock("invoke", simulator),
  },
];

function bedrock(id: string, simulator: RunningSimulator): ProviderConfig {
  return upstream(id, simulator, {
    kind: "bedrock",
    base_url: new URL(simulator.url).origin,
    settings: { region: "us-east-1" },
  });
}

/**
 * One model per upstream, `on-<id>`, plus `models`. Deployments recover quickly because each test has its own model.
 */
export function dialectGateway(models: readonly ModelConfig[] = [], workspace: Overrides["workspace"] = {}): Overrides {
  return {
    providers: (simulator) => upstreamCases.map((one) => one.provider(simulator)),
    models: [...upstreamCases.map((one) => modelOn([one])), ...models],
    ...(workspace === undefined ? {} : { workspace }),
  };
}

const price = { input: 1, cache_read: 0.1, cache_write_5m: 1.25, cache_write_1h: 2, output: 10 };

/** A model served by these upstreams in this order. */
export function modelOn(
  order: readonly UpstreamCase[],
  name = `on-${order.map(({ id }) => id).join("-")}`,
): ModelConfig {
  return {
    name,
    price,
    deployments: order.map(({ id, upstreamModel }, index) => ({
      provider: id,
      upstream_model: upstreamModel,
      priority: index + 1,
    })),
  };
}

export interface CallerCase {
  readonly id: string;
  readonly dialect: DialectId;
  call(gateway: StartedGateway, model: string, options?: CallerOptions): Promise<Response>;
  /** Matches the end of a stream that clients accept as complete. */
  readonly goodEnd: RegExp;
  /** Matches the part of a stream that clients raise as an error. */
  readonly errorEvent: RegExp;
}

interface CallerOptions {
  readonly stream?: boolean;
  readonly text?: string;
  readonly signal?: AbortSignal;
  readonly key?: string;
  readonly more?: Readonly<Record<string, unknown>>;
  readonly headers?: Record<string, string>;
}

const prompt = "Say hello to everyone";

function send(gateway: StartedGateway, path: string, body: object, options: CallerOptions): Promise<Response> {
  return gateway.post(
    path,
    { ...body, ...options.more },
    {
      key: options.key ?? aliceKey,
      headers: { "anthropic-version": "2023-06-01", ...options.headers },
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    },
  );
}

export const callerCases: readonly CallerCase[] = [
  {
    id: "chat",
    dialect: "openai-chat",
    goodEnd: /^data: \[DONE\]$/m,
    errorEvent: /^data: \{"error":/m,
    call: (gateway, model, options = {}) =>
      send(
        gateway,
        "/v1/chat/completions",
        {
          model,
          messages: [{ role: "user", content: options.text ?? prompt }],
          stream: options.stream ?? false,
          stream_options: options.stream === true ? { include_usage: true } : undefined,
        },
        options,
      ),
  },
  {
    id: "messages",
    dialect: "anthropic-messages",
    goodEnd: /^event: message_stop$/m,
    errorEvent: /^event: error$/m,
    call: (gateway, model, options = {}) =>
      send(
        gateway,
        "/v1/messages",
        {
          model,
          max_tokens: 256,
          messages: [{ role: "user", content: options.text ?? prompt }],
          stream: options.stream ?? false,
        },
        options,
      ),
  },
  {
    id: "responses",
    dialect: "openai-responses",
    goodEnd: /^event: response\.completed$/m,
    errorEvent: /^event: (error|response\.failed)$/m,
    call: (gateway, model, options = {}) =>
      send(
        gateway,
        "/v1/responses",
        { model, input: options.text ?? prompt, stream: options.stream ?? false },
        options,
      ),
  },
  {
    id: "generate",
    dialect: "gemini",
    goodEnd: /"finishReason":\s*"STOP"/,
    errorEvent: /^data: \{"error":/m,
    call: (gateway, model, options = {}) =>
      send(
        gateway,
        options.stream === true
          ? `/v1beta/models/${model}:streamGenerateContent?alt=sse`
          : `/v1beta/models/${model}:generateContent`,
        { contents: [{ role: "user", parts: [{ text: options.text ?? prompt }] }] },
        options,
      ),
  },
  {
    id: "interactions",
    dialect: "gemini-interactions",
    goodEnd: /^data: \[DONE\]$/m,
    errorEvent: /^event: error$/m,
    call: (gateway, model, options = {}) =>
      send(
        gateway,
        "/v1beta/interactions",
        { model, input: options.text ?? prompt, stream: options.stream ?? false },
        options,
      ),
  },
];

/** Scripts the next call of this upstream's model. */
export function preset(
  gateway: StartedGateway,
  { upstreamModel }: UpstreamCase,
  script: Script,
  count: number | null = 1,
): void {
  gateway.simulator.simulator.addPreset({ script, count, model: upstreamModel });
}

/** Waits for work that follows an answer, such as its settlement. */
export async function settle(gateway: StartedGateway): Promise<void> {
  await until(() => gateway.gateway.outstanding() === 0 && gateway.gateway.server.pending() === 0);
}
