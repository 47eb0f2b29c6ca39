import { Failure, type HeaderReader, type MemoryOwner } from "#core/index.ts";
import type { FormBody, Spool, Spooled, SpoolWriter } from "#ports/index.ts";
import {
  createFormBody,
  type FormEvent,
  type FormFacts,
  MultipartScanner,
  type MultipartType,
  type RequestFacts,
} from "#protocols/index.ts";
import { type BodyRules, modelBody, type PieceReader, tooLarge } from "./body.ts";
import type { Exchange } from "./dependencies.ts";

type Arriving = Pick<Exchange, "request" | "bodies">;

interface SpoolReading {
  /** Whose share of the spool it takes. */
  readonly owner: MemoryOwner;
  /** modelBody unless said. */
  readonly rules?: BodyRules;
  /** Hears each piece before it is written. May throw Failure. */
  readonly onPiece?: (piece: Uint8Array) => void;
  /** All has come. May throw Failure. */
  readonly onEnd?: () => void;
}

/**
 * A body in the spool, written as it arrives; its caller is read no faster than the spool takes it. Throws Failure 408, 413, 429 or
 * 503, with nothing kept.
 */
export async function spoolBody({ request, bodies }: Arriving, spool: Spool, reading: SpoolReading): Promise<Spooled> {
  const { rules = modelBody } = reading;
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > rules.bytesMax) throw tooLarge(rules);
  const writer = spool.open(reading.owner);
  const pieces = request.body?.getReader() ?? null;
  const writing = write(pieces, writer, { ...reading, rules });
  try {
    return await bodies.within(writing);
  } catch (thrown) {
    writer.discard();
    // The reading may still be under way when its time is over; it ends with this, and what it made is discarded.
    pieces?.cancel().catch(() => {});
    writing.then((late) => late.discard()).catch(() => {});
    throw thrown;
  }
}

async function write(
  pieces: PieceReader | null,
  writer: SpoolWriter,
  { rules, onPiece, onEnd }: Required<Pick<SpoolReading, "rules">> & SpoolReading,
): Promise<Spooled> {
  let size = 0;
  for (let piece = await next(pieces); piece !== null; piece = await next(pieces)) {
    size += piece.length;
    if (size > rules.bytesMax) throw tooLarge(rules);
    onPiece?.(piece);
    const taken = writer.write(piece);
    if (taken instanceof Promise) await taken;
  }
  onEnd?.();
  return writer.end();
}

async function next(pieces: PieceReader | null): Promise<Uint8Array | null> {
  try {
    const piece = await pieces?.read();
    return piece === undefined || piece.done ? null : piece.value;
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown;
    throw new Failure("client_closed", "The caller went away while sending its body.", { cause: thrown });
  }
}

/** Hears a form while it is scanned. */
interface FormListener {
  take(event: FormEvent): void;
  /** Once the form has ended. May throw Failure. */
  end?(): void;
}

/** A form in the spool, scanned as it arrives. Throws Failure 400, 408, 413, 415, 429 or 503, with nothing kept. */
export async function spoolForm(
  arriving: Arriving,
  spool: Spool,
  boundary: string,
  { form, ...reading }: Pick<SpoolReading, "owner" | "rules"> & { readonly form: FormListener },
): Promise<Spooled> {
  requirePlain(arriving.request.headers);
  const scanner = new MultipartScanner(boundary);
  return await spoolBody(arriving, spool, {
    ...reading,
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
  /** The reader's caller has to discard it. */
  readonly form: FormBody;
}

/** Collects what governs a form of one endpoint while it is scanned. */
export interface FormFactsReader {
  take(event: FormEvent): void;
  /** Once the form has ended. Throws Failure missing_required_parameter or invalid_request. */
  facts(): FormFacts;
}

/** Reads a form of a model call into the spool, and its facts with it. Throws as `spoolForm` does. */
export async function readFormBody(
  arriving: Arriving,
  type: MultipartType,
  spool: Spool,
  owner: MemoryOwner,
  fields: FormFactsReader,
): Promise<ReadForm> {
  let found: FormFacts | null = null;
  const end = () => {
    found = fields.facts();
  };
  const form = { take: (event: FormEvent) => fields.take(event), end };
  const spooled = await spoolForm(arriving, spool, type.boundary, { owner, form });
  const { facts, modelSpan } = found ?? fields.facts();
  return { facts, form: createFormBody(spooled, type, modelSpan) };
}

/** A form is mostly pictures or sounds, which do not get smaller by being packed. */
export function requirePlain(headers: HeaderReader): void {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return;
  throw new Failure("unsupported_media_type", "A form must be sent without a content encoding.");
}
