import type { Fields } from "./more-fields.ts";

export interface Reference {
  /** A web URL, a data: URL or `asset://…`. */
  readonly url: string;
  readonly type: "image" | "video" | "audio";
}

/** Parameters of a video. Empty texts and null use the model's defaults. */
export interface VideoDraft {
  readonly prompt: string;
  readonly ratio: string;
  readonly duration: number | null;
  readonly resolution: string;
  readonly audio: boolean | null;
  readonly watermark: boolean | null;
  readonly seed: number | null;
  readonly image: string;
  readonly lastFrame: string;
  readonly references: readonly Reference[];
  /** JSON, as entered. */
  readonly more: string;
}

export const plainVideo: VideoDraft = {
  prompt: "",
  ratio: "",
  duration: null,
  resolution: "",
  audio: null,
  watermark: null,
  seed: null,
  image: "",
  lastFrame: "",
  references: [],
  more: "",
};

/** Name of the form's stored draft, for other pages that fill it in. */
export function videoDraftName(workspace: string): string {
  return `playground.video.draft:${workspace}`;
}

export function videoBody(model: string, draft: VideoDraft, more: Fields): Fields {
  const { duration, audio, watermark, seed, references } = draft;
  const values: Fields = {
    prompt: draft.prompt.trim(),
    ratio: draft.ratio.trim(),
    duration,
    resolution: draft.resolution.trim(),
    audio,
    watermark,
    seed,
    image: draft.image.trim(),
    last_frame: draft.lastFrame.trim(),
    // A plain URL is read as an image.
    references: references.map(({ url, type }) => (type === "image" ? url : { url, type })),
  };
  const filled = Object.entries(values).filter(([, value]) => !isEmpty(value));
  return { model, ...Object.fromEntries(filled), ...more };
}

function isEmpty(value: unknown): boolean {
  return value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

/** Fills the form from an earlier request; parameters without a field become additional parameters. */
export function draftOf(request: Fields): VideoDraft {
  const rest: Record<string, unknown> = { ...request };
  const take = <Value>(name: string, read: (value: unknown) => Value | null): Value | null => {
    const value = read(rest[name]);
    if (value !== null || (rest[name] ?? null) === null) delete rest[name];
    return value;
  };
  delete rest["model"];
  const draft = {
    prompt: take("prompt", textOf) ?? "",
    ratio: take("ratio", textOf) ?? "",
    duration: take("duration", numberOf),
    resolution: take("resolution", textOf) ?? "",
    audio: take("audio", booleanOf),
    watermark: take("watermark", booleanOf),
    seed: take("seed", numberOf),
    image: take("image", materialOf)?.url ?? "",
    lastFrame: take("last_frame", materialOf)?.url ?? "",
    references: take("references", referencesOf) ?? [],
  };
  return { ...draft, more: Object.keys(rest).length === 0 ? "" : JSON.stringify(rest, null, 2) };
}

const textOf = (value: unknown) => (typeof value === "string" ? value : null);
const numberOf = (value: unknown) => (typeof value === "number" ? value : null);
const booleanOf = (value: unknown) => (typeof value === "boolean" ? value : null);

/** A string, or an object that the form can represent. */
function materialOf(value: unknown): Reference | null {
  if (typeof value === "string") return { url: value, type: "image" };
  if (value === null || typeof value !== "object") return null;
  const { url, type = "image", ...others } = value as { url?: unknown; type?: unknown };
  if (typeof url !== "string" || Object.keys(others).length > 0) return null;
  return type === "image" || type === "video" || type === "audio" ? { url, type } : null;
}

function referencesOf(value: unknown): readonly Reference[] | null {
  if (!Array.isArray(value)) return null;
  const references = value.map(materialOf);
  return references.every((each) => each !== null) ? references : null;
}
