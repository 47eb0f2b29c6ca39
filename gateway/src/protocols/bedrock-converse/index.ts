import type { UpstreamCodec } from "../codec.ts";
import type { Dialect, Listener } from "../dialect.ts";
import { readConverseRefusal } from "./error.ts";
import { readConverseAnswer } from "./read-answer.ts";
import { ConverseEventReader } from "./read-events.ts";
import { readConverseReply } from "./reply.ts";
import { ConverseStreamTap } from "./stream.ts";
import { writeConverseTurn } from "./write-turn.ts";

/** Amazon Bedrock's Converse, which upstreams alone speak; its streams as AwsEventStream gives them out. */
export const bedrockConverse: Listener = {
  readReply: readConverseReply,
  tapStream: () => new ConverseStreamTap(),
};

export const bedrockConverseCodec: UpstreamCodec = {
  writeTurn: writeConverseTurn,
  readAnswer: readConverseAnswer,
  readEvents: (emit, source) => new ConverseEventReader(emit, source),
};

export const bedrockErrors: Pick<Dialect, "errorShape" | "readRefusal"> = {
  errorShape: "aws",
  readRefusal: readConverseRefusal,
};
