import { Failure } from "#core/index.ts";
import type { StreamTap } from "../dialect.ts";

/** Nobody asks for a stream of embeddings, so an upstream that sends one did not understand the call. */
export function refuseEmbeddingsStream(): StreamTap {
  throw new Failure("upstream_error", "The upstream streams embeddings, which nobody asked for.", { retry: "other" });
}
