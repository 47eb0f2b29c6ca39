import type { VideoMaterial, VideoTurn } from "#core/index.ts";
import type { CreateInput, GoodAnswer, OutboundDraft, VideoAdapter, VideoState } from "#providers/index.ts";
import { providerKind } from "#providers/index.ts";
import { bytes, parsed, providerOf } from "./provider-fixture.ts";

/** Helpers of the video adapter tests. */
export function adapterOf(kind: string): VideoAdapter {
  const adapter = providerKind(kind)?.video;
  if (adapter === undefined) throw new Error(`${kind} makes no videos`);
  return adapter;
}

export function turnOf(changes: Partial<VideoTurn> = {}): VideoTurn {
  return {
    prompt: "a paper boat",
    ratio: null,
    durationSeconds: null,
    resolution: null,
    audio: null,
    watermark: null,
    seed: null,
    material: [],
    content: null,
    vendorFields: {},
    wantsLastFrame: false,
    ...changes,
  };
}

export function inputOf(kind: string, upstreamModel: string, changes: Partial<VideoTurn> = {}): CreateInput {
  return {
    provider: providerOf(kind, { settings: videoSettings }),
    upstreamModel,
    turn: turnOf(changes),
    taskId: "vt_1",
    callbackUrl: null,
  };
}

export const videoSettings = {
  project: "proj",
  location: "us-central1",
  resource: "res",
  storage_uri: "gs://bucket/videos",
};

export const picture = "data:image/png;base64,iVBORw0KGgo=";

export function material(
  role: VideoMaterial["role"],
  url = picture,
  type: VideoMaterial["type"] = "image",
): VideoMaterial {
  return { role, type, url };
}

export function answerOf(body: unknown, status = 200): GoodAnswer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers: new Headers({ "content-type": "application/json" }), body: bytes(text) };
}

export function textOfBody(body: Uint8Array | null): string {
  return new TextDecoder().decode(body ?? new Uint8Array(0));
}

export const image = "https://pictures.example/a.png";
export const video = "https://cdn.example/v.mp4";

/** For an account of a type: the request for a turn, its body, and the state in a poll's answer. */
export function draftOf(kind: string, model: string, changes: Partial<VideoTurn> = {}): OutboundDraft {
  return adapterOf(kind).create(inputOf(kind, model, changes));
}

export function bodyOf(kind: string, model: string, changes: Partial<VideoTurn> = {}): unknown {
  return parsed(draftOf(kind, model, changes).body);
}

export function stateOf(kind: string, body: unknown): VideoState {
  return adapterOf(kind).readState(answerOf(body), providerOf(kind));
}
