import { Failure, type HeaderReader, type MemoryOwner } from "#core/index.ts";
import type { FormBody, Spooled } from "#ports/index.ts";
import {
  createFormBody,
  type FormEvent,
  type FormFacts,
  MultipartScanner,
  type MultipartType,
  type RequestFacts,
} from "#protocols/index.ts";
import { type BodyRules, callerGone, declaredSize, inTime, modelBody, tooLarge } from "./body.ts";
import type { CallRequest } from "./call-request.ts";
import type { ApiDependencies } from "./dependencies.ts";

interface SpoolSource {
  readonly request: CallRequest;
  readonly dependencies: Pick<ApiDependencies, "spool" | "clock">;
}

/**
 * Writes a body into the spool, in its owner's share, as it arrives; the caller is read no faster than the spool writes. `onPiece` sees
 * each piece first and may throw Failure. Throws Failure 408, 413, 429 or 503, and then nothing is kept.
 */
export async function spoolBody(
  { request, dependencies: { spool, clock } }: SpoolSource,
  owner: MemoryOwner,
  rules: BodyRules = modelBody,
  onPiece: (piece: Uint8Array) => void = () => {},
): Promise<Spooled> {
  declaredSize(request, rules);
  const writer = spool.open(owner);
  const reader = request.body?.getReader() ?? null;
  const write = async (): Promise<Spooled> => {
    let size = 0;
    for (;;) {
      const piece = await reader?.read().catch(callerGone);
      if (piece === undefined || piece.done) return writer.end();
      size += piece.value.length;
      if (size > rules.bytesMax) throw tooLarge(rules);
      onPiece(piece.value);
      await writer.write(piece.value);
    }
  };
  const writing = write();
  try {
    return await inTime(clock, writing, reader);
  } catch (thrown) {
    writer.discard();
    // A read may still be under way when the time is over. It ends because the reader was canceled, and its result is discarded.
    writing.then((late) => late.discard()).catch(() => {});
    throw thrown;
  }
}

/** Receives the parts of a form while it is scanned. Both may throw Failure. */
interface FormListener<Read> {
  take(event: FormEvent): void;
  /** Called when the form has ended. */
  end(): Read;
}

/**
 * Writes a form into the spool and scans it on the way. The caller has to discard `spooled`. Throws Failure 400, 408, 413, 415, 429 or
 * 503, and then nothing is kept.
 */
export async function spoolForm<Read>(
  source: SpoolSource,
  boundary: string,
  owner: MemoryOwner,
  form: FormListener<Read>,
  rules: BodyRules = modelBody,
): Promise<{ readonly spooled: Spooled; readonly read: Read }> {
  requirePlain(source.request.headers);
  const scanner = new MultipartScanner(boundary);
  const spooled = await spoolBody(source, owner, rules, (piece) => {
    for (const event of scanner.push(piece)) form.take(event);
  });
  try {
    scanner.end();
    return { spooled, read: form.end() };
  } catch (thrown) {
    spooled.discard();
    throw thrown;
  }
}

export interface ReadForm {
  readonly facts: RequestFacts;
  /** The caller of `readFormBody` has to discard it. */
  readonly form: FormBody;
}

/** Reads the form of a model call into the spool, and its facts. Throws as `spoolForm` does. */
export async function readFormBody(
  source: SpoolSource,
  type: MultipartType,
  owner: MemoryOwner,
  fields: { take(event: FormEvent): void; facts(): FormFacts },
): Promise<ReadForm> {
  const form = { take: (event: FormEvent) => fields.take(event), end: () => fields.facts() };
  const { spooled, read } = await spoolForm(source, type.boundary, owner, form);
  return { facts: read.facts, form: createFormBody(spooled, type, read.modelSpan) };
}

/** Refuses a compressed form: images and sounds do not become smaller. */
export function requirePlain(headers: HeaderReader): void {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return;
  throw new Failure("unsupported_media_type", "A form must be sent without a content encoding.");
}
