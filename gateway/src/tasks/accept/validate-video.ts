import { videoTaskFields } from "@sluice/contract/words";
import { checkFields, type ExemptRule, Failure, type TaskRequest, taskIdOf, type VideoMaterial } from "#core/index.ts";
import { arrayOf, GovernedNames, type JsonObject, objectOf, textOf } from "#protocols/index.ts";
import { readCallbackUrl } from "./callback-url.ts";
import { readMaterial } from "./material.ts";
import { type References, referencesIn, unknownTask } from "./references.ts";
import { booleanOf, missing, textMember, wholeNumber, wrong } from "./request-members.ts";

/** Vendors take prompts of 2,000 to 32,000 characters. */
const taskPromptCharactersMax = videoTaskFields.prompt.maxLength;
export const taskMetadataBytesMax = 4 * 1024;

/** A video task as its caller asked for it, read and checked; assets are not resolved yet. */
export interface VideoRequest {
  readonly asked: TaskRequest;
  /** The body's own prompt; `asked.prompt` may be what a vendor-shaped `content` says. */
  readonly prompt: string | null;
  readonly material: readonly VideoMaterial[];
  readonly content: readonly unknown[] | null;
  readonly more: JsonObject;
  readonly wantsLastFrame: boolean;
  readonly callbackUrl: string | null;
  readonly metadata: JsonObject;
  readonly references: References;
}

/**
 * Reads the body of POST /v1/video/tasks (CONTRACT §2). What is not ours is collected in `more` and goes on as it is.
 * `webhookPlaces`: the private places that callers may be told at. Throws missing_required_parameter or invalid_request, with
 * the parameter's name.
 */
export function readVideoRequest(body: JsonObject, webhookPlaces: readonly ExemptRule[] = []): VideoRequest {
  for (const name of Object.keys(body)) {
    const meant = ours.variantOf(name);
    if (meant !== null) throw wrong(name, `is another spelling of "${meant}": write "${meant}"`);
  }
  checkFields(body, fields);
  const prompt = textMember(body, "prompt");
  const content = body["content"] === undefined ? null : (body["content"] as readonly unknown[] | null);
  const words = prompt ?? contentPrompt(content);
  if ((words?.length ?? 0) > taskPromptCharactersMax) {
    throw wrong(prompt === null ? "content" : "prompt", `has more than ${taskPromptCharactersMax} characters of text`);
  }
  const remixOf = readRemixOf(body);
  const material = readMaterial(body);
  if ((prompt ?? "").trim() === "" && material.length === 0 && content === null) throw missing("prompt");
  const more = Object.fromEntries(Object.entries(body).filter(([name]) => !ours.has(name)));
  return {
    asked: {
      prompt: words,
      ratio: textMember(body, "ratio"),
      durationSeconds: readDuration(body),
      resolution: textMember(body, "resolution")?.toLowerCase() ?? null,
      audio: booleanOf(body, "audio"),
      watermark: booleanOf(body, "watermark"),
      seed: wholeNumber(body, "seed"),
      ...(remixOf === null ? {} : { remixOf }),
    },
    prompt,
    material,
    content,
    more,
    wantsLastFrame: booleanOf(body, "return_last_frame") ?? false,
    callbackUrl: readCallbackUrl(body["callback_url"] ?? null, webhookPlaces),
    metadata: readMetadata(body["metadata"] ?? null),
    references: referencesIn([material.map(({ url }) => url), content, more], content),
  };
}

/** A remix has the length, the shape and the sound of its video: whoever asks for others must not get these unsaid. */
function readRemixOf(body: JsonObject): string | null {
  const named = textMember(body, "remix_of");
  if (named === null) return null;
  const kept = ofTheVideo.find((name) => (body[name] ?? null) !== null);
  if (kept !== undefined) throw wrong(kept, 'is not taken with "remix_of": a remix keeps what its video has');
  const id = taskIdOf(named);
  if (!/^vt_[0-9A-Za-z]{1,64}$/.test(id)) throw unknownTask(id, "remix_of");
  return id;
}

const ofTheVideo = [
  "ratio",
  "duration",
  "resolution",
  "audio",
  "watermark",
  "seed",
  "image",
  "last_frame",
  "references",
  "content",
  "return_last_frame",
] as const;

/** The model was looked up before. */
const { model: _, ...fields } = videoTaskFields;
const ours = new GovernedNames(Object.keys(videoTaskFields));

/** -1: the vendor decides. Whether one of them does is a matter of capabilities. */
function readDuration(body: JsonObject): number | null {
  const seconds = wholeNumber(body, "duration");
  if (seconds === null || seconds > 0 || seconds === -1) return seconds;
  throw wrong("duration", "must be a whole number of seconds greater than 0");
}

/** What the text items say: shown to the caller, and looked for in a vendor's list. */
function contentPrompt(content: readonly unknown[] | null): string | null {
  const texts = arrayOf(content).flatMap((item) => {
    const text = textOf(objectOf(item)["text"]);
    return text === null ? [] : [text];
  });
  return texts.length === 0 ? null : texts.join("\n");
}

function readMetadata(value: unknown): JsonObject {
  if (value === null) return {};
  const size = new TextEncoder().encode(JSON.stringify(value)).length;
  if (size > taskMetadataBytesMax) {
    throw new Failure("invalid_request", `The parameter "metadata" is larger than ${taskMetadataBytesMax} bytes.`, {
      param: "metadata",
    });
  }
  return value as JsonObject;
}
