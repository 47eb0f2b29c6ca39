import { requestFields } from "@sluice/contract/words";
import type { Wire } from "../dialect.ts";
import { MemberChecks } from "../request/member-checks.ts";
import { bodyNames, scanRequest, sizeOf } from "../request/members.ts";
import { modelEdit, passedFacts, promptUsage, refuseStream, replyReader } from "./passed-json.ts";

const checks = new MemberChecks(requestFields.moderations);

const wanted = bodyNames(["model", "input", "user"]);

/** What OpenAI takes where its callers say nothing, as most do. Source: API reference, "Create moderation". */
const usualModel = "omni-moderation-latest";

/** Texts and pictures judged by their content. OpenAI tells no usage, Mistral does. */
export const moderationsWire: Wire = {
  readRequest(body) {
    const members = scanRequest(body, wanted);
    checks.check(body, members);
    const named = members.has("model") ? {} : { model: usualModel };
    return passedFacts(body, members, { inputEstimate: Math.ceil(sizeOf(members.get("input")) / 4), ...named });
  },
  requestEdits: modelEdit,
  smallestRequest: (model) => ({ model, input: "ok" }),
  readReply: replyReader(["results"], ["usage"], (member) => promptUsage(member("usage"))),
  tapStream: refuseStream("moderations"),
};
