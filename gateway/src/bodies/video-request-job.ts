import { Failure, type VideoTurn } from "#core/index.ts";
import type { BlobInfo } from "#ports/index.ts";
import { isObject } from "#protocols/index.ts";
import { videoAdapter } from "#providers/index.ts";
import { carriedMedia } from "./carried-media.ts";
import type { Job } from "./job-desk.ts";
import { markIn } from "./material-marks.ts";

/** Writes the request for a video: material and media come to their places before the vendor's adapter sees the turn. */
export const writeVideoRequest: Job<"video-request"> = (body, ask, beside) => {
  const { provider, upstreamModel, taskId, callbackUrl, material, media } = ask;
  const adapter = videoAdapter(provider.kind);
  if (adapter === null) throw new Error("a kind that makes no videos");
  if (material !== null && body.length !== material.size) throw cutShort();
  const found = carriedMedia(media, beside);
  const inPlace = (text: string): string => {
    const one = found.get(text);
    if (one !== undefined) return `data:${one.mediaType};base64,${one.data}`;
    return material === null ? text : unmarked(text, body, material);
  };
  const turn = material === null && media.length === 0 ? ask.turn : withEachIn(ask.turn, inPlace);
  const draft = adapter.create({ provider, upstreamModel, turn, taskId, callbackUrl });
  const { method, url, headers } = draft;
  return { made: draft.body, answer: { method, url, headers: { ...headers } } };
};

function unmarked(text: string, body: Uint8Array, { hash }: BlobInfo): string {
  const found = markIn(text);
  if (found === null || found.mark.hash !== hash) return text;
  const { start, length } = found.mark;
  return found.head + decoder.decode(body.subarray(start, start + length));
}

/** What looks like a byte order mark at the beginning of a text is a part of it. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function cutShort(): Failure {
  return new Failure("internal_error", "The material of the task is not whole any more.");
}

/** Words are left as they are: a prompt may name what it likes. */
function withEachIn(turn: VideoTurn, replace: (text: string) => string): VideoTurn {
  const { material, content, more } = turn;
  const replaced = withEach({ material, content, more }, replace) as Pick<VideoTurn, "material" | "content" | "more">;
  return { ...turn, ...replaced };
}

function withEach(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((one) => withEach(one, replace));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withEach(one, replace)]));
}
