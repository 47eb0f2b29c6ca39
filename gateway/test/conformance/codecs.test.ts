import { anthropicMessages, anthropicMessagesCodec } from "#protocols/anthropic-messages/index.ts";
import { gemini, geminiCodec } from "#protocols/gemini/index.ts";
import { geminiInteractions, geminiInteractionsCodec } from "#protocols/gemini-interactions/index.ts";
import { openaiChat, openaiChatCodec } from "#protocols/openai-chat/index.ts";
import { openaiResponses, openaiResponsesCodec } from "#protocols/openai-responses/index.ts";
import type { CodecProfile } from "./codec-fixture.ts";
import { codecPairSuite } from "./codec-pairs.ts";
import { codecSuite } from "./codec-suite.ts";

const labelReason = "the value is only a label for the vendor's records";

const profiles: readonly CodecProfile[] = [
  {
    dialect: openaiChat,
    codec: openaiChatCodec,
    warned: ["topK", "metadata", "a picture in a tool result"],
    refused: [],
    silent: {},
    finish: { "stop-sequence": "stop", "context-length": "length", pause: "stop", refusal: "content-filter" },
    lateResults: false,
  },
  {
    dialect: anthropicMessages,
    codec: anthropicMessagesCodec,
    warned: [
      ...["presencePenalty", "frequencyPenalty", "seed", "seed 0", "format json", "verbosity", "serviceTier"],
      "instructions within the conversation",
    ],
    refused: [],
    silent: { metadata: labelReason, "presencePenalty 0": "zero is the default" },
    finish: { "content-filter": "refusal" },
    lateResults: false,
  },
  {
    dialect: openaiResponses,
    codec: openaiResponsesCodec,
    warned: ["topK", "presencePenalty", "presencePenalty 0", "frequencyPenalty", "seed", "seed 0", "stop"],
    refused: [],
    silent: {},
    finish: { "stop-sequence": "stop", "context-length": "length", pause: "stop", refusal: "content-filter" },
    lateResults: true,
  },
  {
    dialect: gemini,
    codec: geminiCodec,
    warned: ["verbosity", "parallelToolCalls", "strict", "instructions within the conversation"],
    refused: ["an image by URL"],
    silent: {
      userId: labelReason,
      metadata: labelReason,
      "a picture in a tool result": "the picture follows the results in the same message",
    },
    finish: { refusal: "content-filter", "context-length": "length", "stop-sequence": "stop", pause: "stop" },
    lateResults: false,
  },
  {
    dialect: geminiInteractions,
    codec: geminiInteractionsCodec,
    warned: [
      ...["topK", "presencePenalty", "presencePenalty 0", "frequencyPenalty", "verbosity", "parallelToolCalls"],
      ...["strict", "instructions within the conversation"],
    ],
    refused: ["an image by URL"],
    silent: { userId: labelReason, metadata: labelReason },
    finish: { refusal: "content-filter", "context-length": "length", "stop-sequence": "stop", pause: "stop" },
    lateResults: false,
  },
];

for (const profile of profiles) codecSuite(profile);
for (const caller of profiles) {
  for (const upstream of profiles) if (caller !== upstream) codecPairSuite(caller, upstream);
}
