import type { UpstreamCodec } from "../codec.ts";
import { ConverseEventReader, readConverseAnswer } from "./read-answer.ts";
import { writeConverseTurn } from "./write-turn.ts";

export { bedrockConverse, bedrockErrors } from "./wire.ts";

export const bedrockConverseCodec: UpstreamCodec = {
  writeTurn: writeConverseTurn,
  readAnswer: readConverseAnswer,
  readEvents: (emit, source) => new ConverseEventReader(emit, source),
};
