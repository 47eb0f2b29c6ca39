import { wholeOf } from "#bodies/index.ts";
import { anonymousOwner, bounds, Failure } from "#core/index.ts";
import { readPieces } from "../../body.ts";
import type { BodyRules } from "../../body-rules.ts";
import type { ApiDependencies, Exchange } from "../../dependencies.ts";

/** From somebody who shows no key. */
const agentForm: BodyRules = { bytesMax: bounds.agentFormBytesMax, packed: false };

/** Reads whatever is sent, within a bound, and does not look at it. */
export async function readAnything(dependencies: ApiDependencies, exchange: Exchange): Promise<Uint8Array> {
  const place = dependencies.memory.open(anonymousOwner(exchange.address()), "request");
  try {
    return wholeOf(await readPieces(dependencies, exchange, place, agentForm));
  } finally {
    place.release();
  }
}

/** The fields of a form. RFC 6749, 3.2: a field that is sent twice is an error; one that is empty counts as left out. */
export async function readForm(
  dependencies: ApiDependencies,
  exchange: Exchange,
): Promise<ReadonlyMap<string, string>> {
  const body = await readAnything(dependencies, exchange);
  const type = exchange.request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    throw new Failure("invalid_request", "The body must be application/x-www-form-urlencoded.");
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(Buffer.from(body).toString("utf8"))) {
    if (fields.has(name)) throw new Failure("invalid_request", "A field was sent twice.");
    fields.set(name, value);
  }
  for (const [name, value] of fields) if (value === "") fields.delete(name);
  return fields;
}
