import { defaultTimeouts, type Provider, Secret } from "#core/index.ts";
import { type Lane, laneUrl, type OutboundDraft, type ProviderKind, providerKind } from "#providers/index.ts";

/** Helpers of the tests of all provider types: an account of each, and a request to it. */
export const secretText = "sk-upstream-secret";
/** 2026-01-02T03:04:05Z */
export const now = Date.UTC(2026, 0, 2, 3, 4, 5);
export const options = { now, token: null };

const settings = { project: "proj", location: "us-central1", region: "eu-west-1", resource: "res" };

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const parsed = (body: Uint8Array | null): unknown =>
  JSON.parse(new TextDecoder().decode(body ?? new Uint8Array(0)));

export function providerOf(kind: string, changes: Partial<Provider> = {}): Provider {
  const providerKind = kindOf(kind);
  const provider: Provider = {
    id: "p",
    kind,
    baseUrl: "",
    secret: new Secret(secretText),
    allowPrivateNetwork: false,
    timeouts: defaultTimeouts,
    disconnect: "cancel",
    settings,
    enabled: true,
    ...changes,
  };
  if (provider.baseUrl !== "") return provider;
  return {
    ...provider,
    baseUrl: providerKind.baseUrlOf?.(provider) ?? providerKind.baseUrl ?? "https://upstream.example/v1",
  };
}

export function kindOf(id: string): ProviderKind {
  const kind = providerKind(id);
  if (kind === null) throw new Error(`no kind ${id}`);
  return kind;
}

export function laneOf(kind: string, endpoint: Lane["endpoint"], model = ""): Lane {
  const lane = kindOf(kind).lanes.find((one) => one.endpoint === endpoint && (one.fits?.(model) ?? true));
  if (lane === undefined) throw new Error(`${kind} has no ${endpoint}`);
  return lane;
}

export function draftOf(provider: Provider, lane: Lane, model: string, body: object | null = null): OutboundDraft {
  return {
    provider,
    upstreamModel: model,
    stream: true,
    method: "POST",
    url: laneUrl(provider, lane, model, true),
    headers: { "content-type": "application/json" },
    body: body === null ? null : bytes(JSON.stringify(body)),
  };
}
