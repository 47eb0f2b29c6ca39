import { requestFields } from "@sluice/contract/words";
import type { Wire } from "../dialect.ts";
import { MemberChecks } from "../request/member-checks.ts";
import { bodyNames, scanRequest } from "../request/members.ts";
import { modelEdit, passedFacts, promptUsage, refuseStream, replyReader, textOrTokens } from "./passed-json.ts";

const checks = new MemberChecks(requestFields.embeddings);

const wanted = bodyNames(["model", "input", "user"]);

/** Texts, or their tokens, as vectors. Never streams. All that does not govern, encoding_format too, is the upstream's to judge. */
export const embeddingsWire: Wire = {
  readRequest(body) {
    const members = scanRequest(body, wanted);
    checks.check(body, members);
    return passedFacts(body, members, { inputEstimate: textOrTokens(body, members.get("input")).tokens });
  },
  requestEdits: modelEdit,
  smallestRequest: (model) => ({ model, input: "ok" }),
  readReply: replyReader(["data"], ["usage"], (member) => promptUsage(member("usage"))),
  tapStream: refuseStream("embeddings"),
};
