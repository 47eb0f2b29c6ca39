import { expect, test } from "bun:test";
import { type ConfigSnapshot, type Deployment, defaultTimeouts, type Model } from "#core/index.ts";
import { quietConfigSnapshot } from "../../../test/quiet-config-snapshot.ts";
import { withContextWindows } from "./bundled-price-list.ts";

const deployment = (kind: string, upstreamModel: string, contextWindow: number | null = null): Deployment => ({
  ...{ id: `${kind}/${upstreamModel}`, upstreamModel, priority: 1, weight: 100, enabled: true, contextWindow },
  provider: {
    ...{ id: kind, kind, baseUrl: "https://upstream.test", secret: null, allowPrivateNetwork: false },
    ...{ timeouts: defaultTimeouts, disconnect: "cancel", settings: {}, enabled: true },
  },
});

function configSnapshotOf(deployments: readonly Deployment[], contextWindow: number | null = null): ConfigSnapshot {
  const plain = { name: "m", type: "chat", ownedBy: "", createdAt: 0, fallbacks: [], price: null } as const;
  const model: Model = { ...plain, deployments, contextWindow };
  return { ...quietConfigSnapshot(), models: new Map([["m", model]]) };
}

const newer = (window: number) => ({
  ...{ source: "test", loadedAt: Date.UTC(2100, 0), digest: String(window) },
  text: JSON.stringify([
    { id: "openai", models: [{ id: "x", match: { equals: "x" }, context_window: window, prices: {} }] },
  ]),
});

async function windowsOf(
  configSnapshot: ConfigSnapshot,
  stored: Parameters<typeof withContextWindows>[1] = async () => null,
) {
  const model = (await withContextWindows(configSnapshot, stored)).models.get("m");
  return [model?.contextWindow, ...(model?.deployments ?? []).map(({ contextWindow }) => contextWindow)];
}

test("fills in the context window of each deployment, and gives the model the largest", async () => {
  const unlike = [deployment("openai", "gpt-5"), deployment("openai", "gpt-4o"), deployment("openai", "unheard-of")];
  expect(await windowsOf(configSnapshotOf(unlike))).toEqual([400_000, 400_000, 128_000, null]);
});

test("prefers the configured context window to the price list", async () => {
  expect(await windowsOf(configSnapshotOf([deployment("openai", "gpt-5", 9)], 9))).toEqual([9, 9]);
});

test("uses a newer stored price list", async () => {
  const configSnapshot = configSnapshotOf([deployment("openai", "x")]);
  expect(await windowsOf(configSnapshot, async () => newer(5))).toEqual([5, 5]);
  expect(await windowsOf(configSnapshot, async () => newer(7))).toEqual([7, 7]);
});

test("does not load the price list for provider types without list prices", async () => {
  const configSnapshot = configSnapshotOf([deployment("openai-compatible", "gpt-5")]);
  const read = await withContextWindows(configSnapshot, async () => {
    throw new Error("It was read.");
  });
  expect(read).toBe(configSnapshot);
});
