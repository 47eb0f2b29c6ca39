import { createHash } from "node:crypto";
import { bounds, Failure } from "#core/index.ts";
import {
  formMembers,
  type JsonObject,
  parseSmall,
  type RenamedMembers,
  readFormContent,
  readVideoMembers,
} from "#protocols/index.ts";
import type { OpenAiVideoBody } from "./body-jobs.ts";
import type { Job } from "./job-desk.ts";
import { markText, materialIn, withTexts } from "./material-marks.ts";

/**
 * Reads the body of a video task. What material it holds is put together as the bytes that are kept: the task's id, so that
 * they are this task's alone, and behind it each text, one after the other.
 */
export const readVideoBody: Job<"video-body"> = (body, { taskId, apart, openai }) => {
  const { value, written, renamed } = openai === null ? ownBody(body) : translated(body, openai);
  const digest = sha256(written);
  if (!apart || written.length <= bounds.taskBodyInPlaceBytesMax) {
    return { made: null, answer: { text: new TextDecoder().decode(written), digest, renamed, material: null } };
  }
  const texts: string[] = [`${taskId}\n`];
  withTexts(value, (text) => {
    const found = materialIn(text);
    if (found !== null) texts.push(found.material);
    return text;
  });
  const made = texts.length === 1 ? null : encoded(texts);
  const hash = made === null ? "" : sha256(made);
  let start = byteLength(texts[0] ?? "");
  const outline = withTexts(value, (text) => {
    const found = materialIn(text);
    if (found === null) return text;
    const length = byteLength(found.material);
    const mark = markText(found.head, { hash, start, length });
    start += length;
    return mark;
  });
  const text = JSON.stringify(outline);
  if (byteLength(text) > bounds.taskOutlineBytesMax) throw tooMuch();
  return { made, answer: { text, digest, renamed, material: made === null ? null : { hash, size: made.length } } };
};

interface WrittenBody {
  readonly value: JsonObject;
  readonly written: Uint8Array;
  readonly renamed: RenamedMembers;
}

function ownBody(body: Uint8Array): WrittenBody {
  return { value: parseSmall(body, limits), written: body, renamed: {} };
}

/** What OpenAI's clients ask for as a task's own body. A file grows by a third on the way. */
function translated(body: Uint8Array, { boundary, remix }: OpenAiVideoBody): WrittenBody {
  const asked = boundary === null ? parseSmall(body, limits) : formMembers(readFormContent(body, boundary));
  const { members, renamed } = readVideoMembers(asked, remix);
  const written = encoder.encode(JSON.stringify(members));
  if (written.length <= bounds.taskRequestBytesMax) return { value: members, written, renamed };
  throw new Failure(
    "request_too_large",
    `With its material in base64 the body is larger than ${bounds.taskRequestBytesMax} bytes; give material by URL or as an asset.`,
  );
}

const limits = { values: bounds.plainValuesMax, members: bounds.plainMembersMax };

function encoded(texts: readonly string[]): Uint8Array {
  const bytes = new Uint8Array(texts.reduce((sum, text) => sum + byteLength(text), 0));
  let end = 0;
  for (const text of texts) end += encoder.encodeInto(text, bytes.subarray(end)).written;
  return bytes;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const byteLength = (text: string): number => Buffer.byteLength(text);
const encoder = new TextEncoder();

function tooMuch(): Failure {
  return new Failure(
    "request_too_large",
    `Apart from its material the body is larger than ${bounds.taskOutlineBytesMax} bytes.`,
  );
}
