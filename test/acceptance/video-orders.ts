import type { ConfigFile } from "@sluice/contract";
import type { Script } from "@sluice/simulator";
import { keys } from "./test-config.ts";

/** A video that a caller orders with one Idempotency-Key until there is an answer. */
export interface Order {
  readonly number: number;
  readonly model: VideoModel;
  /** How the vendor behaves, sent in the prompt. */
  readonly script: Script;
}

const videoModels = ["clip-marked", "clip-plain", "clip-either", "clip-sora"] as const;
export type VideoModel = (typeof videoModels)[number];

/** USD per million tokens and per second, with halves of a nano-USD, so that the test covers rounding. */
export const videoPrices = { tokens: 6.0005, seconds: 0.1001 } as const;

/** Lost tasks can be found by our id at accounts that mark their tasks, by prompt at Sora, and not at all at the plain account. */
export function videoConfig(simulatorUrl: string): ConfigFile {
  const account = (id: string, kind: string, settings: Record<string, unknown> = {}) => ({
    id,
    kind,
    base_url: simulatorUrl,
    api_key: `sk-upstream-of-${id}`,
    allow_private_network: true,
    settings,
  });
  const seedance = "doubao-seedance-2-0-260128";
  const priced = { type: "video", price: { output: videoPrices.tokens } } as const;
  const [marked, plain] = [
    { provider: "marked", upstream_model: seedance },
    { provider: "plain", upstream_model: "doubao-seedance-1-0-pro-250528" },
  ];
  const second = { provider: "second", upstream_model: seedance, priority: 2 };
  const sora = { provider: "sora", upstream_model: "sora-2" };
  return {
    providers: [
      account("marked", "ark", { mark_tasks: true }),
      account("second", "ark", { mark_tasks: true }),
      account("plain", "ark"),
      account("sora", "openai"),
    ],
    models: [
      { name: "clip-marked", ...priced, deployments: [marked] },
      { name: "clip-plain", ...priced, deployments: [plain] },
      { name: "clip-either", ...priced, deployments: [{ ...marked, priority: 1 }, second] },
      { name: "clip-sora", type: "video", price: { video: videoPrices.seconds }, deployments: [sora] },
    ],
    workspaces: [
      {
        slug: "acme",
        keys: [
          {
            name: "main",
            secret: keys.main,
            limits: { concurrency: 10_000 },
            budget: { usd: 100_000, period: "total" },
          },
        ],
      },
    ],
  };
}

/**
 * Returns the same orders for the same count. Three quarters succeed; the rest fail in every possible way. `secondMs`: the duration of
 * one of the vendor's seconds.
 */
export function ordersOf(count: number, secondMs = 1_000): readonly Order[] {
  return Array.from({ length: count }, (_, index): Order => {
    const model = videoModels[index % videoModels.length] ?? "clip-marked";
    // Sora's list shows prompts, and they must be recognized, so they contain no script.
    return { number: index, model, script: model === "clip-sora" ? {} : scriptOf(index, secondMs) };
  });
}

function scriptOf(index: number, secondMs: number): Script {
  const base: Script = {
    queued_ms: (2 + (index % 7)) * secondMs,
    running_ms: (10 + ((index * 37) % 120)) * secondMs,
    callbacks: index % 3,
    latency_ms: (index % 5) * secondMs,
  };
  const faults = faultScripts(secondMs);
  return { ...base, ...(faults[Math.floor(index / videoModels.length) % faults.length] ?? {}) };
}

const faultScripts = (secondMs: number): readonly Script[] => [
  {},
  { ends: "failed" },
  {},
  { answer_lost: "cut" },
  {},
  { ends: "expired" },
  {},
  { answer_lost: "silent" },
  {},
  { vanish_ms: 30 * secondMs, running_ms: 1_800 * secondMs },
  {},
  { latency_ms: 90 * secondMs },
  {},
  { poll: { status: 500 }, poll_count: 3 },
  {},
  { odd_state: "dreaming", answer_lost: "reset" },
  {},
  { status: 400, error_code: "InputTextSensitiveContentDetected" },
  {},
  { status: 429, error_code: "QuotaExceeded" },
  {},
  { latency_ms: 20 * secondMs, callbacks: 2 },
  {},
  { status: 504 },
];

export function orderBody({ number, model, script }: Order): Readonly<Record<string, unknown>> {
  const marker = Object.keys(script).length === 0 ? "" : ` [[sim ${JSON.stringify(script)}]]`;
  const prompt = `order ${number}: a boat on a lake${marker}`;
  const image = isLarge(number) ? { image: largeImage } : {};
  if (model === "clip-sora") return { model, prompt, ...image, duration: 4, ratio: "16:9", resolution: "720p" };
  const size = { ratio: "16:9", resolution: number % 2 === 0 ? "720p" : "480p", duration: 5 + (number % 4) };
  return { model, prompt, ...image, ...size, execution_expires_after: 3_600 };
}

/** Whether an order contains its first frame inline, too large for a database row. Every model has such orders. */
export function isLarge(number: number): boolean {
  return number % 7 === 0;
}

/** The minimum size at the vendor; vendors that take forms receive the decoded bytes. */
export const imageBytes = 96 * 1024;
const largeImage = `data:image/png;base64,${"ABCD".repeat(imageBytes / 3)}`;
