import { Failure, type HeaderReader, type MemoryOwner } from "#core/index.ts";
import type { FormBody, Spool } from "#ports/index.ts";
import {
  createFormBody,
  type FormEvent,
  type FormFacts,
  MultipartScanner,
  type MultipartType,
  type RequestFacts,
} from "#protocols/index.ts";
import type { BodyDeadlines } from "./body-deadlines.ts";
import type { CallRequest } from "./call-request.ts";
import { spoolBody } from "./spool-body.ts";

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
  readonly owner: MemoryOwner;
  readonly deadlines: BodyDeadlines;
  readonly fields: FormFactsReader;
}

/**
 * Reads a form into the spool as it arrives, and its facts with it; the caller is read no faster than the spool takes
 * it. Throws Failure 400, 408, 413, 415, 429 or 503, with nothing kept.
 */
export async function readFormBody(
  request: CallRequest,
  type: MultipartType,
  spool: Spool,
  { owner, deadlines, fields }: FormReading,
): Promise<ReadForm> {
  requirePlain(request.headers);
  const scanner = new MultipartScanner(type.boundary);
  let found: FormFacts | null = null;
  const spooled = await spoolBody(request, spool, {
    owner,
    deadlines,
    onPiece: (piece) => {
      for (const event of scanner.push(piece)) fields.take(event);
    },
    onEnd: () => {
      scanner.end();
      found = fields.facts();
    },
  });
  const { facts, modelSpan } = found ?? fields.facts();
  return { facts, form: createFormBody(spooled, type, modelSpan) };
}

/** A form is mostly pictures or sounds, which do not get smaller by being packed. */
export function requirePlain(headers: HeaderReader): void {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return;
  throw new Failure("unsupported_media_type", "A form must be sent without a content encoding.");
}
