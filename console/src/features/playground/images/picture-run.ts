import { asProblem, isAbort, type Problem } from "../../../client/problem.ts";
import { addressProblem, pictureUrl } from "../../media/data-url.ts";
import { type Answered, askAs, type CallInfo, type KeyCall } from "../../media/key-call.ts";
import type { Fields } from "../../media/more-fields.ts";
import { fileField, formText } from "../same-call/same-call.ts";

/** Parameters of an image request. Empty texts and null use the model's defaults. */
export interface PictureDraft {
  readonly prompt: string;
  readonly size: string;
  readonly count: number | null;
  readonly quality: string;
  readonly more: string;
  /** Images to edit. Empty: generate a new one. */
  readonly sources: readonly File[];
}

export const plainPicture: PictureDraft = { prompt: "", size: "", count: null, quality: "", more: "", sources: [] };

export interface Picture {
  /** A data: URL; null if the provider returned only a web URL, which this page must not load. */
  readonly url: string | null;
  readonly address: string | null;
  readonly revisedPrompt: string | null;
}

export interface PictureRun {
  readonly id: number;
  readonly model: string;
  readonly prompt: string;
  readonly startedAt: number;
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly pictures: readonly Picture[];
  readonly info: CallInfo | null;
  readonly totalMs: number | null;
  readonly problem: Problem | null;
}

/** `base64`: requests the bytes, because the content security policy allows nothing else. */
export function pictureBody(model: string, draft: PictureDraft, more: Fields, base64 = true): Fields {
  const { prompt, size, count, quality } = draft;
  return {
    model,
    prompt: prompt.trim(),
    ...(size.trim() === "" ? {} : { size: size.trim() }),
    ...(count === null ? {} : { n: count }),
    ...(quality.trim() === "" ? {} : { quality: quality.trim() }),
    ...(base64 ? { response_format: "b64_json" } : {}),
    ...more,
  };
}

export function picturePath({ sources }: PictureDraft): "/v1/images/generations" | "/v1/images/edits" {
  return sources.length === 0 ? "/v1/images/generations" : "/v1/images/edits";
}

export interface MakeOptions {
  readonly signal: AbortSignal;
  /** false: this model refuses the parameter. */
  readonly base64: boolean;
  /** Called when the model refuses the parameter. */
  readonly onBare: () => void;
}

/**
 * Generates the images. Some models always return the bytes and refuse the field that requests them. Their error names the field,
 * and the request is repeated without it.
 */
export async function makePictures(
  call: KeyCall,
  model: string,
  draft: PictureDraft,
  more: Fields,
  { signal, base64: wanted, onBare }: MakeOptions,
): Promise<Answered> {
  const ask = (base64: boolean) => {
    const body = pictureBody(model, draft, more, base64);
    return askAs(call, picturePath(draft), draft.sources.length === 0 ? body : formOf(body, draft.sources), { signal });
  };
  try {
    return await ask(wanted);
  } catch (thrown) {
    if (!wanted || isAbort(thrown) || asProblem(thrown).param !== "response_format") throw thrown;
    onBare();
    return await ask(false);
  }
}

function formOf(body: Fields, sources: readonly File[]): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, formText(value));
  for (const file of sources) form.append(fileField(sources), file);
  return form;
}

/** File names that are safe on a command line: names with special characters are replaced. */
export function plainNames(files: readonly Pick<File, "name" | "type">[]): readonly string[] {
  return files.map(({ name, type }, at) =>
    /^[\w.-]+\.\w+$/.test(name) ? name : `picture-${at + 1}.${type.split("/")[1] ?? "png"}`,
  );
}

export function picturesIn(answer: unknown): readonly Picture[] {
  const data = answer !== null && typeof answer === "object" && "data" in answer ? answer.data : null;
  if (!Array.isArray(data)) return [];
  return data.flatMap((item): Picture[] => {
    const base64 = textOf(item, "b64_json");
    const address = textOf(item, "url");
    const url = base64 === null ? (address?.startsWith("data:image/") ? address : null) : pictureUrl(base64);
    const link = address !== null && addressProblem(address) === null ? address : null;
    if (url === null && link === null) return [];
    return [{ url, address: link, revisedPrompt: textOf(item, "revised_prompt") }];
  });
}

function textOf(value: unknown, name: string): string | null {
  const text = value !== null && typeof value === "object" ? Reflect.get(value, name) : null;
  return typeof text === "string" && text !== "" ? text : null;
}
