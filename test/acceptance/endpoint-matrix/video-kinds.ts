import type { ConfigFile } from "@sluice/contract";
import { providerKindSettings } from "../../../contract/src/provider-kinds.ts";
import { keys, upstreamKey } from "../test-config.ts";
import { documentedVideoKinds } from "./docs-table.ts";

/** The model that each kind is called with, and a duration that it supports. */
interface VideoModel {
  readonly model: string;
  readonly seconds: number;
  /** Relative to the simulator's address. */
  readonly path: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly api_key?: string;
}

/** One for every kind in the documentation's table of videos. */
const videoModels: Readonly<Record<string, VideoModel>> = {
  openai: { model: "sora-2", seconds: 8, path: "/v1" },
  "azure-openai": { model: "sora-2", seconds: 8, path: "" },
  ark: { model: "doubao-seedance-2-0-260128", seconds: 5, path: "/api/v3" },
  byteplus: { model: "seedance-1-5-pro-251215", seconds: 5, path: "/api/v3" },
  gemini: { model: "veo-3.1-generate-preview", seconds: 8, path: "/v1beta" },
  vertex: {
    model: "veo-3.1-generate-preview",
    seconds: 8,
    path: "",
    settings: { project: "tests", location: "europe-west4", storage_uri: "gs://bucket/videos" },
  },
  dashscope: { model: "wan2.5-t2v-preview", seconds: 5, path: "/compatible-mode/v1" },
  minimax: { model: "MiniMax-Hailuo-02", seconds: 6, path: "/v1" },
  kling: {
    model: "kling-v2-6",
    seconds: 5,
    path: "",
    settings: { access_key: "AKKLINGEXAMPLE" },
    api_key: "kling-secret-example",
  },
  vidu: { model: "viduq2", seconds: 5, path: "" },
  runway: { model: "gen4.5", seconds: 5, path: "" },
  fal: { model: "fal-ai/wan/v2.2-5b/text-to-video", seconds: 5, path: "" },
  replicate: { model: "owner/name", seconds: 5, path: "/v1" },
  demo: { model: "demo-video", seconds: 5, path: "/v1" },
};

/** In USD, with halves of a nano-USD, so that the test covers rounding. */
export const videoPrice = { tokens: 6.0005, seconds: 0.1001 } as const;

export interface VideoKind {
  readonly kind: string;
  /** From the documentation; undefined if the kind makes no videos. */
  readonly billsBy: string | undefined;
  readonly seconds: number;
}

const documented = documentedVideoKinds();

/** Every kind, including the ones without videos. */
export const videoKinds: readonly VideoKind[] = Object.keys(providerKindSettings).map((kind) => ({
  kind,
  billsBy: documented.get(kind),
  seconds: videoModels[kind]?.seconds ?? 5,
}));

/** Vertex stores videos in a Google Cloud Storage bucket, which the simulator does not play. */
export function isInBucket({ kind }: VideoKind): boolean {
  return kind === "vertex";
}

export function videoModelOf({ kind }: VideoKind): string {
  return `film/${kind}`;
}

export function videoKindsConfig(simulatorUrl: string): ConfigFile {
  const { origin } = new URL(simulatorUrl);
  return {
    providers: videoKinds.map(({ kind }) => {
      const { path = "/v1", settings = usualSettings[kind], api_key = upstreamKey } = videoModels[kind] ?? {};
      return {
        id: kind,
        kind,
        base_url: origin + path,
        api_key,
        allow_private_network: true,
        ...(settings === undefined ? {} : { settings }),
      };
    }),
    models: videoKinds.map((videoKind) => ({
      name: videoModelOf(videoKind),
      type: "video",
      price: videoKind.billsBy === "tokens" ? { output: videoPrice.tokens } : { video: videoPrice.seconds },
      deployments: [{ provider: videoKind.kind, upstream_model: videoModels[videoKind.kind]?.model ?? "some-model" }],
    })),
    workspaces: [{ slug: "acme", keys: [{ name: "main", secret: keys.main }] }],
  };
}

const usualSettings: Readonly<Record<string, Readonly<Record<string, unknown>>>> = { bedrock: { region: "us-east-1" } };
