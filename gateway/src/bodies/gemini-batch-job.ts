import { Failure } from "#core/index.ts";
import { parseObject, skimArray, skimObject, textOf } from "#protocols/index.ts";

/** The creation of a batch in Gemini's API. */
interface GeminiBatchBody {
  readonly displayName: string;
  /** The file with its rows; null: the body has them. */
  readonly fileName: string | null;
  /** The start and the end of each row in the body, one after the other. */
  readonly rows: Uint32Array;
}

type Span = { readonly start: number; readonly end: number };

const displayNameMax = 256;

/** Finds the rows of a batch, which may be megabytes. Throws Failure invalid_request. */
export function readGeminiBatch(body: Uint8Array, { rowsMax }: { readonly rowsMax: number }) {
  const batch = memberOf(body, { start: 0, end: body.length }, "batch");
  const input = batch === null ? null : (memberOf(body, batch, "inputConfig") ?? memberOf(body, batch, "input_config"));
  if (batch === null || input === null) throw invalid("batch.inputConfig is missing.", "batch.inputConfig");
  const outer = memberOf(body, input, "requests");
  const requests = outer === null ? null : memberOf(body, outer, "requests");
  const fileName = textAt(body, memberOf(body, input, "fileName") ?? memberOf(body, input, "file_name"));
  if ((requests === null) === (fileName === null)) {
    throw invalid("batch.inputConfig needs either fileName or requests.requests.", "batch.inputConfig");
  }
  const displayName = textAt(body, memberOf(body, batch, "displayName")) ?? "";
  if (displayName.length > displayNameMax) {
    throw invalid(`displayName must have at most ${displayNameMax} characters.`, "batch.displayName");
  }
  const items = requests === null ? [] : skimArray(body, requests, rowsMax + 1);
  if (items === null) throw invalid("requests must be a list.", "batch.inputConfig.requests");
  const rows = Uint32Array.from(items.flatMap(({ start, end }) => [start, end]));
  return { made: null, answer: { displayName, fileName, rows } satisfies GeminiBatchBody };
}

/** null: there is no such member. */
function memberOf(body: Uint8Array, { start, end }: Span, name: string): Span | null {
  return skimObject(body, start, end, new Set([name]))?.get(name) ?? null;
}

function textAt(body: Uint8Array, span: Span | null): string | null {
  if (span === null) return null;
  const value = Buffer.from(body.buffer, body.byteOffset + span.start, span.end - span.start).toString("utf8");
  return textOf(parseObject(Buffer.from(`{"v":${value}}`))?.["v"]);
}

function invalid(message: string, param: string): Failure {
  return new Failure("invalid_request", message, { param });
}
