import { bounds } from "#core/index.ts";
import {
  answerEvents,
  callerSide,
  OwnToolNames,
  readOutline,
  refuseCrowd,
  unbroken,
  upstreamSide,
  writeOutline,
} from "#protocols/index.ts";
import { carriedMedia } from "./carried-media.ts";
import type { Job } from "./job-desk.ts";
import { addressesIn, withMedia } from "./turn-media.ts";

export const translateTurn: Job<"translate"> = (body, ask, beside, { newId }) => {
  const caller = callerSide(ask.endpoint).codec;
  const side = upstreamSide(ask.dialect);
  const { codec: upstream } = side;
  if (caller === null || upstream === null) throw new Error("a way that cannot be gone");
  const warnings: string[] = [];
  const warn = (what: string): void => void warnings.push(what);
  refuseCrowd(body, { values: bounds.translatedValuesMax, members: bounds.jsonMembersMax });
  const read = caller.readTurn(body, ask, warn);
  const outline = writeOutline(read);
  const fetch = ask.media === null ? addressesIn(read, ask.traits.fetchesUrls, side) : [];
  if (fetch.length > 0) return { made: null, answer: { fetch, outline, warnings } };
  const turn = ask.media === null ? read : withMedia(read, carriedMedia(ask.media, beside));
  const { upstreamModel, account, traits } = ask;
  const made = upstream.writeTurn(turn, { upstreamModel, account, traits, newId }, warn);
  return { made, answer: { fetch, outline, warnings } };
};

export const answerTurn: Job<"answer"> = (reply, ask, _beside, { newId }) => {
  const caller = callerSide(ask.endpoint).codec;
  const { codec: upstream } = upstreamSide(ask.dialect);
  if (caller === null || upstream === null) throw new Error("a way that cannot be gone");
  const warnings: string[] = [];
  const { account, model, createdAt, wantsUsage } = ask;
  const warn = (what: string): void => void warnings.push(what);
  const context = { turn: readOutline(ask.outline), model, account, createdAt, wantsUsage, newId, warn };
  const read = unbroken(upstream.readAnswer(reply, { account, newId, warn, usage: ask.usage }));
  const answer = new OwnToolNames(context.turn.tools).answer(read);
  if (!ask.stream) return { made: caller.writeAnswer(answer, context), answer: { warnings } };
  const writer = caller.writeEvents(context);
  let text = "";
  for (const event of answerEvents(answer)) text += writer.write(event);
  return { made: encoder.encode(text), answer: { warnings } };
};

const encoder = new TextEncoder();
