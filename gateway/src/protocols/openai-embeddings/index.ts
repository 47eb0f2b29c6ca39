import type { Dialect, Wire } from "../dialect.ts";
import { openaiChat } from "../openai-chat/index.ts";
import { readEmbeddingsReply } from "./reply.ts";
import { patchEmbeddingsRequest, readEmbeddingsRequest } from "./request.ts";
import { refuseEmbeddingsStream } from "./stream.ts";

/** Errors, limits and keep-alives are those of OpenAI's other endpoints. */
export const openaiEmbeddings: Dialect = { ...openaiChat, id: "openai-embeddings" };

/** Texts, or their tokens, as vectors. Never streams. */
export const embeddingsWire: Wire = {
  readRequest: readEmbeddingsRequest,
  patchRequest: patchEmbeddingsRequest,
  readReply: readEmbeddingsReply,
  tapStream: refuseEmbeddingsStream,
};
