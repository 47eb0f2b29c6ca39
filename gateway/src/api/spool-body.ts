import { Failure, type MemoryOwner } from "#core/index.ts";
import type { Spool, Spooled, SpoolWriter } from "#ports/index.ts";
import type { BodyDeadlines } from "./body-deadlines.ts";
import { type BodyRules, modelBody, tooLarge } from "./body-rules.ts";
import type { CallRequest } from "./call-request.ts";

export interface SpoolReading {
  /** Whose share of the spool it takes. */
  readonly owner: MemoryOwner;
  readonly deadlines: BodyDeadlines;
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
export async function spoolBody(request: CallRequest, spool: Spool, reading: SpoolReading): Promise<Spooled> {
  const { rules = modelBody } = reading;
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > rules.bytesMax) throw tooLarge(rules);
  const writer = spool.open(reading.owner);
  const pieces = request.body?.getReader() ?? null;
  const writing = write(pieces, writer, { ...reading, rules });
  try {
    return await reading.deadlines.within(writing);
  } catch (thrown) {
    writer.discard();
    // The reading may still be under way when its time is over; it ends with this, and what it made is let go of.
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
    if (thrown instanceof Failure) throw thrown;
    throw new Failure("client_closed", "The caller went away while sending its body.", { cause: thrown });
  }
}
