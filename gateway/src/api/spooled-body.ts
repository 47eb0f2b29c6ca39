import { Failure, type HeaderReader, type MemoryOwner, type PieceReader } from "#core/index.ts";
import type { FormBody, Spooled, SpoolWriter } from "#ports/index.ts";
import {
  createFormBody,
  type FormEvent,
  type FormFacts,
  MultipartScanner,
  type MultipartType,
  type RequestFacts,
} from "#protocols/index.ts";
import { type BodyRules, callerGone, declaredSize, inTime, modelBody, tooLarge } from "./body.ts";
import type { ApiDependencies, Exchange } from "./dependencies.ts";

type SpoolDependencies = Pick<ApiDependencies, "spool" | "clock">;
type SpoolExchange = Pick<Exchange, "request">;

interface SpoolOptions {
  /** Counts against this owner's share of the spool. */
  readonly owner: MemoryOwner;
  /** modelBody by default. */
  readonly rules?: BodyRules;
  /** Called with each piece before it is written. May throw Failure. */
  readonly onPiece?: (piece: Uint8Array) => void;
  /** Called after the last piece. May throw Failure. */
  readonly onEnd?: () => void;
}

/**
 * Writes a body into the spool as it arrives; the caller is read no faster than the spool writes. Throws Failure 408, 413, 429 or
 * 503, and then nothing is kept.
 */
export async function spoolBody(
  { spool, clock }: SpoolDependencies,
  { request }: SpoolExchange,
  { owner, rules = modelBody, onPiece = () => {}, onEnd = () => {} }: SpoolOptions,
): Promise<Spooled> {
  declaredSize(request, rules);
  const writer = spool.open(owner);
  const reader = request.body?.getReader() ?? null;
  const writing = write(reader, writer, { owner, rules, onPiece, onEnd });
  try {
    return await inTime(clock, writing, reader);
  } catch (thrown) {
    writer.discard();
    // A read may still be under way when the time is over. It ends because the reader was canceled, and its result is discarded.
    writing.then((late) => late.discard()).catch(() => {});
    throw thrown;
  }
}

async function write(
  reader: PieceReader | null,
  writer: SpoolWriter,
  { rules, onPiece, onEnd }: Required<SpoolOptions>,
): Promise<Spooled> {
  let size = 0;
  for (;;) {
    const piece = await reader?.read().catch(callerGone);
    if (piece === undefined || piece.done) break;
    size += piece.value.length;
    if (size > rules.bytesMax) throw tooLarge(rules);
    onPiece(piece.value);
    await writer.write(piece.value);
  }
  onEnd();
  return writer.end();
}

/** Receives the parts of a form while it is scanned. */
interface FormListener {
  take(event: FormEvent): void;
  /** Called when the form has ended. May throw Failure. */
  end?(): void;
}

/** Writes a form into the spool and scans it on the way. Throws Failure 400, 408, 413, 415, 429 or 503, and then nothing is kept. */
export async function spoolForm(
  dependencies: SpoolDependencies,
  exchange: SpoolExchange,
  boundary: string,
  form: FormListener,
  options: Pick<SpoolOptions, "owner" | "rules">,
): Promise<Spooled> {
  requirePlain(exchange.request.headers);
  const scanner = new MultipartScanner(boundary);
  return await spoolBody(dependencies, exchange, {
    ...options,
    onPiece: (piece) => {
      for (const event of scanner.push(piece)) form.take(event);
    },
    onEnd: () => {
      scanner.end();
      form.end?.();
    },
  });
}

export interface ReadForm {
  readonly facts: RequestFacts;
  /** The caller of `readFormBody` has to discard it. */
  readonly form: FormBody;
}

/** Collects the governing fields of one endpoint's form while it is scanned. */
export interface FormFactsReader {
  take(event: FormEvent): void;
  /** Called when the form has ended. Throws Failure missing_required_parameter or invalid_request. */
  facts(): FormFacts;
}

/** Reads the form of a model call into the spool, and its facts. Throws as `spoolForm` does. */
export async function readFormBody(
  dependencies: SpoolDependencies,
  exchange: SpoolExchange,
  type: MultipartType,
  owner: MemoryOwner,
  fields: FormFactsReader,
): Promise<ReadForm> {
  let read: FormFacts | null = null;
  const form: FormListener = {
    take: (event) => fields.take(event),
    end: () => {
      read = fields.facts();
    },
  };
  const spooled = await spoolForm(dependencies, exchange, type.boundary, form, { owner });
  const { facts, modelSpan } = read ?? fields.facts();
  return { facts, form: createFormBody(spooled, type, modelSpan) };
}

/** Refuses a compressed form: images and sounds do not become smaller. */
export function requirePlain(headers: HeaderReader): void {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return;
  throw new Failure("unsupported_media_type", "A form must be sent without a content encoding.");
}
