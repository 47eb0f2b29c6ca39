import { Failure } from "#core/index.ts";
import type { FormBody, Spool, SpoolWriter } from "#ports/index.ts";
import {
  createFormBody,
  type FormEvent,
  type FormFacts,
  MultipartScanner,
  type MultipartType,
  type RequestFacts,
} from "#protocols/index.ts";
import type { BodyDeadlines } from "./body-deadlines.ts";
import { modelBody, tooLarge } from "./body-rules.ts";

export interface ReadForm {
  readonly facts: RequestFacts;
  /** The reader's caller has to let go of it. */
  readonly form: FormBody;
}

/** Collects what governs a form of one endpoint while it is scanned. */
export interface FormFactsReader {
  take(event: FormEvent): void;
  /** Once the form has ended. Throws Failure missing_required_parameter or invalid_request. */
  facts(): FormFacts;
}

export interface FormReading {
  readonly deadlines: BodyDeadlines;
  readonly fields: FormFactsReader;
}

/**
 * Reads a form into the spool as it arrives, and its facts with it; the caller is read no faster than the spool takes
 * it. Throws Failure 400, 408, 413, 415 or 503, with nothing kept.
 */
export async function readFormBody(
  request: Request,
  type: MultipartType,
  spool: Spool,
  { deadlines, fields }: FormReading,
): Promise<ReadForm> {
  requirePlain(request.headers);
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > modelBody.bytesMax) throw tooLarge(modelBody);
  const writer = spool.open();
  const pieces = request.body?.getReader() ?? null;
  const reading = readAll(pieces, type, writer, fields);
  try {
    return await deadlines.within(reading);
  } catch (thrown) {
    writer.discard();
    // The reading may still be under way when its time is over; it ends with this, and what it made is let go of.
    pieces?.cancel().catch(() => {});
    reading.then(({ form }) => form.discard()).catch(() => {});
    throw thrown;
  }
}

async function readAll(
  pieces: PieceReader | null,
  type: MultipartType,
  writer: SpoolWriter,
  fields: FormFactsReader,
): Promise<ReadForm> {
  const scanner = new MultipartScanner(type.boundary);
  let size = 0;
  for (let piece = await next(pieces); piece !== null; piece = await next(pieces)) {
    size += piece.length;
    if (size > modelBody.bytesMax) throw tooLarge(modelBody);
    for (const event of scanner.push(piece)) fields.take(event);
    const taken = writer.write(piece);
    if (taken instanceof Promise) await taken;
  }
  scanner.end();
  const { facts, modelSpan } = fields.facts();
  return { facts, form: createFormBody(await writer.end(), type, modelSpan) };
}

/** What is used of a stream's reader; the runtime's own type is wider. */
interface PieceReader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: unknown }>;
  cancel(): Promise<void>;
}

async function next(pieces: PieceReader | null): Promise<Uint8Array | null> {
  try {
    const piece = await pieces?.read();
    return piece === undefined || piece.done ? null : piece.value;
  } catch (thrown) {
    throw new Failure("client_closed", "The caller went away while sending its body.", { cause: thrown });
  }
}

/** A form is mostly pictures or sounds, which do not get smaller by being packed. */
function requirePlain(headers: Headers): void {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return;
  throw new Failure("unsupported_media_type", "A form must be sent without a content encoding.");
}
